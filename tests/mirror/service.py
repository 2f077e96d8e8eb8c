"""The service under test, and clients that change what they find."""

import contextlib
import http.client
import json
import pathlib
import random
import re
import socket
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRITERS = 4
# How long the service may take to start, and a copy to become equal, in seconds.
PATIENCE = 60


class Wrong(Exception):
    """What must not happen."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Service:
    def __init__(self, program: str, database: str, port: int):
        self.program = program
        self.database = database
        self.port = port
        self.process = None

    def start(self) -> None:
        command = [self.program, "serve", "--listen", f"127.0.0.1:{self.port}"]
        command += ["--database", self.database]
        command += ["--log-level", "error"]
        self.process = subprocess.Popen(command)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise Wrong(f"the service ended with {self.process.returncode}")
            with contextlib.suppress(OSError, http.client.HTTPException):
                Client(self.port, "").request("GET", "/v1")
                return
            time.sleep(0.02)
        raise Wrong("the service does not start")

    def end(self, how: int) -> None:
        self.process.send_signal(how)
        self.process.wait()

    def run(self, *arguments: str) -> str:
        command = [self.program, *arguments, "--database", self.database]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Client:
    def __init__(self, port: int, key: str):
        self.port, self.key = port, key

    def request(self, method: str, path: str, body=None, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {"Authorization": f"Bearer {self.key}"}
        headers |= {name.replace("_", "-"): value for name, value in fields.items()}
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if text else None, response.headers

    def walk(self, path: str) -> list:
        elements = []
        while path:
            status, page, headers = self.request("GET", path)
            if status != 200:
                raise Wrong(f"GET {path}: {status} {page}")
            elements += page
            link = re.search(r'<([^>]*)>; rel="next"', headers.get("Link", ""))
            path = link and link[1]
        return elements

    def content(self) -> dict:
        base = "/v1/store"
        pets = self.walk(f"{base}/pets?limit=100") + self.walk(f"{base}/pets?withdrawn=true&limit=100")
        content = {("pet", pet["id"]): pet for pet in pets}
        content |= {("order", order["id"]): order for order in self.walk(f"{base}/orders?limit=100")}
        categories = self.walk(f"{base}/categories?limit=100")
        return content | {("category", category["id"]): category for category in categories}


class Writers:
    """Clients that change what they find until they are told to rest."""

    def __init__(self, client: Client, seed: int):
        self.client = client
        self.resting = threading.Event()
        self.lock = threading.Lock()
        self.made = 0
        randoms = [random.Random(seed + number) for number in range(WRITERS)]
        self.threads = [threading.Thread(target=self.write, args=(one,)) for one in randoms]
        for thread in self.threads:
            thread.start()

    def rest(self) -> int:
        self.resting.set()
        for thread in self.threads:
            thread.join()
        return self.made

    def write(self, chance: random.Random) -> None:
        while not self.resting.is_set():
            try:
                status = self.write_once(chance)
                with self.lock:
                    self.made += status < 300
            except (OSError, http.client.HTTPException):
                # The service was killed.
                time.sleep(0.02)

    def write_once(self, chance: random.Random) -> int:
        request, base = self.client.request, "/v1/store"
        key = {"Idempotency_Key": f'"{chance.getrandbits(64)}"'}
        act = chance.randrange(8)
        if act == 0:
            return request("POST", "/v1/pets", {"name": f"Rex {chance.random()}", "categoryId": 1})[0]
        if act == 1:
            path = f"{base}/categories/{chance.randrange(5)}"
            status, _, headers = request("PUT", path, {"label": "a"}, If_None_Match="*")
            if status == 412:
                found = next((c for c in self.client.walk(f"{base}/categories") if path.endswith(str(c["id"]))), None)
                tag = f'"{found["version"]}"' if found else '"1"'
                label = {"label": f"Dogs {chance.random()}"}
                if chance.random() < 0.5:
                    return request("DELETE", path, If_Match=tag)[0]
                return request("PUT", path, label, If_Match=tag)[0]
            return status
        query = chance.choice(["?limit=100", "?withdrawn=true&limit=20", "?status=available"])
        _, pets, _ = request("GET", f"{base}/pets{query}")
        if not pets:
            return request("POST", "/v1/pets", {"name": "Rex", "categoryId": 1})[0]
        pet = chance.choice(pets)
        path, tag = f"{base}/pets/{pet['id']}", f'"{pet["version"]}"'
        if pet["withdrawn"]:
            return request("POST", f"{path}/restore", {}, If_Match=tag)[0]
        if pet["orderId"]:
            end = chance.choice(["complete", "cancel"])
            return request("POST", f"{base}/orders/{pet['orderId']}/{end}", {})[0]
        if act in (2, 3):
            closed = request("GET", f"{base}/orders?petId={pet['id']}")[1]
            if closed and chance.random() < 0.5:
                return request("POST", f"{base}/orders/{closed[-1]['id']}/reopen", {})[0]
            return request("POST", f"{base}/orders", {"petId": pet["id"]}, **key)[0]
        if act == 4:
            return request("POST", f"{path}/withdraw", {"reason": "died"}, If_Match=tag)[0]
        if act == 5:
            commands = [
                {"command": "patchPet", "petId": pet["id"], "ifMatch": pet["version"], "name": "B"},
                {"command": "addPet", "name": "C", "categoryId": 2},
            ]
            return request("POST", f"{base}/batch", commands, **key)[0]
        change = {"name": f"Frank {chance.random()}", "status": "available"}
        return request("PATCH", path, change, If_Match=tag)[0]
