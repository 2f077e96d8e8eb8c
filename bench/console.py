"""Measures the console: the processor time of each page, its latency for a whole staff during a full load of
the interface, and what it costs while nobody uses it.

    python3 bench/console.py PETSTORE DATABASE

PETSTORE is the program, built for release. DATABASE is an SQLite file with many animals, which is copied first.
Needs wrk. The figures of docs/scale.md come from here.
"""

import http.client
import http.cookies
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

API, CONSOLE = 18080, 18081
PASSWORD = "four quiet otters swim"
PAGES = ["/", "/animals", "/animals?q=a", "/animals?q=b&status=available", "/animals?status=sold&category=1",
         "/animals/500000", "/animals/500000/edit", "/add", "/categories", "/orders", "/orders?status=all", "/activity",
         "/activity?animal=500000", "/settings/staff", "/settings/keys", "/settings/webhooks", "/account"]
REPEATS, STAFF, SECONDS, IDLE = 30, 200, 20, 60


class Browser:
    def __init__(self, link: str):
        self.connection = http.client.HTTPConnection("127.0.0.1", CONSOLE)
        fields = urllib.parse.urlencode({"new": PASSWORD, "again": PASSWORD})
        self.cookie = ""
        response = self.send("POST", urllib.parse.urlsplit(link).path, fields)
        assert response.status == 303, response.status
        cookies = http.cookies.SimpleCookie()
        for value in response.headers.get_all("set-cookie"):
            cookies.load(value)
        self.cookie = "; ".join(f"{name}={cookie.value}" for name, cookie in cookies.items())

    def send(self, method: str, path: str, body: str | None = None) -> http.client.HTTPResponse:
        headers = {"cookie": self.cookie, "origin": f"http://127.0.0.1:{CONSOLE}",
                   "content-type": "application/x-www-form-urlencoded"}
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        response.read()
        return response

    def get(self, path: str) -> None:
        response = self.send("GET", path)
        assert response.status == 200, (path, response.status)


def processor_time(pid: int) -> float:
    """Of the process, in milliseconds: its CPU clock, as clock_getcpuclockid(3) names it."""
    return 1e3 * time.clock_gettime(~pid << 3 | 2)


def wait_until_it_serves(process: subprocess.Popen) -> None:
    while True:
        assert process.poll() is None, "the service has stopped"
        try:
            connection = http.client.HTTPConnection("127.0.0.1", CONSOLE)
            connection.request("GET", "/sign-in")
            assert connection.getresponse().status == 200
            return
        except ConnectionRefusedError:
            time.sleep(0.1)


def measure_pages(manager: Browser, pid: int) -> None:
    print("| Page | Processor time, ms | Latency, ms |\n|---|---|---|")
    for path in PAGES:
        manager.get(path)
        latencies, before = [], processor_time(pid)
        for _ in range(REPEATS):
            begun = time.perf_counter()
            manager.get(path)
            latencies.append(1e3 * (time.perf_counter() - begun))
        cost = (processor_time(pid) - before) / REPEATS
        print(f"| `{path}` | {cost:.2f} | {statistics.median(latencies):.1f} |", flush=True)


def measure_staff(staff: list[Browser], key: str) -> None:
    """A page every second or so of each member, as people do who work fast."""
    begun = time.perf_counter()
    latencies, lock = [], threading.Lock()

    def work(browser: Browser, seed: int) -> None:
        chance = random.Random(seed)
        time.sleep(chance.random())
        while time.perf_counter() - begun < SECONDS:
            path = chance.choice(PAGES[:7])
            sent = time.perf_counter()
            browser.get(path)
            with lock:
                latencies.append(1e3 * (time.perf_counter() - sent))
            time.sleep(chance.uniform(1, 3))

    load = subprocess.Popen(["wrk", "-t1", "-c32", f"-d{SECONDS}", "-H", f"Authorization: Bearer {key}",
                             f"http://127.0.0.1:{API}/v1/pets?status=available"], stdout=subprocess.PIPE, text=True)
    threads = [threading.Thread(target=work, args=(browser, seed)) for seed, browser in enumerate(staff)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = re.search(r"Requests/sec:\s*([\d.]+)", load.communicate()[0])[1]
    latencies.sort()
    p50, p99 = latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100]
    print(f"{len(staff)} members, {len(latencies)} pages during {rate} requests/s of the interface: "
          f"p50 {p50:.0f} ms, p99 {p99:.0f} ms, at most {latencies[-1]:.0f} ms", flush=True)


def main() -> None:
    program, database = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir=pathlib.Path(database).parent) as folder:
        copy = pathlib.Path(folder, "petstore.db")
        shutil.copy(database, copy)
        options = ["--database", f"sqlite:{copy}"]
        environment = os.environ | {"PETSTORE_LOG_LEVEL": "warn"}

        def serve(console: str) -> subprocess.Popen:
            return subprocess.Popen([program, "serve", *options, "--listen", f"127.0.0.1:{API}", "--console-listen", console,
                                     "--rate-limit", "off"],
                                    env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

        def run(*arguments: str) -> str:
            return subprocess.run([program, *arguments, *options], check=True, capture_output=True, text=True).stdout

        process = serve(f"127.0.0.1:{CONSOLE}")
        threading.Thread(target=lambda: [sys.stderr.write(line) for line in process.stderr], daemon=True).start()
        try:
            wait_until_it_serves(process)
            key = re.search(r"pets_live_\w+", run("keys", "create", "--name", "load"))[0]
            links = [re.search(r"http\S+", run("staff", "add", f"Member {index}", "--role", "manager"))[0]
                     for index in range(STAFF)]
            staff = [Browser(link) for link in links]
            measure_pages(staff[0], process.pid)
            measure_staff(staff, key)
            time.sleep(5)
            before = processor_time(process.pid)
            time.sleep(IDLE)
            print(f"Idle with the console: {processor_time(process.pid) - before:.0f} ms of processor time in {IDLE} s")
        finally:
            process.terminate()
            process.wait()


main()
