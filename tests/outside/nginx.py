"""The nginx configurations of the documents, as they are printed: nginx accepts each, and forwards with them. A file that
the service cannot send to its end is an error at the client, and all others arrive complete.

    python3 -B -m tests.outside.nginx --nginx PROGRAM --window URL --api URL --key KEY

The service has --store-name and enough animals that /animals.csv does not fit into the buffers between it and a client.
"""

import argparse
import csv
import gzip
import http.client
import io
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import textwrap
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

FOLDERS = ["docs", "deploy"]


def blocks(text):
    """The server blocks in a text, each without its indentation."""
    block = r"^(?P<indent> *)server \{\n(?:(?P=indent) +.*\n|\n)*(?P=indent)\}\n"
    return [textwrap.dedent(found.group()) for found in re.finditer(block, text, re.M)]


def documents():
    """The documents with nginx texts, each with its server blocks."""
    found = {}
    for folder in FOLDERS:
        for path in sorted(Path(folder).rglob("*.md")):
            text = path.read_text()
            servers = blocks(text)
            whole = len(re.findall(r"^ *proxy_pass http", text, re.M))
            within = sum(server.count("proxy_pass") for server in servers)
            assert whole == within, f"{path}: an nginx text that is not a complete server block"
            if servers:
                found[path] = servers
    return found


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Nginx:
    """nginx with the blocks of a document, on free ports and with a certificate of its own."""

    def __init__(self, program, folder, servers, upstream=None, settings=""):
        self.program, self.folder = program, folder
        self.plain, self.tls = free_port(), free_port()
        text = "".join(servers)
        for pattern, replacement in [
            (r"listen 80;", f"listen 127.0.0.1:{self.plain};"),
            (r"listen 443 ssl http2;", f"listen 127.0.0.1:{self.tls} ssl http2;"),
            (r"/etc/letsencrypt/live/[^/]+/", f"{folder}/"),
        ]:
            text, count = re.subn(pattern, replacement, text)
            assert count, f"no {pattern} in {text}"
        if upstream:
            text = re.sub(r"proxy_pass http://[0-9.:]+;", f"proxy_pass {upstream};", text)
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind};\n" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        )
        # Without a file between the service and the client, as with a slow disk.
        around = (
            f"pid {folder}/pid;\nerror_log {folder}/error.log;\ndaemon off;\n"
            f"{'user root;' if os.geteuid() == 0 else ''}\nevents {{}}\n"
            f"http {{\naccess_log off;\nproxy_max_temp_file_size 0;\n{settings}{temporary}{text}}}\n"
        )
        self.configuration = folder / "nginx.conf"
        self.configuration.write_text(around)

    def command(self, *more):
        return [self.program, "-p", self.folder, "-e", self.folder / "error.log", "-c", self.configuration, *more]

    def check(self):
        done = subprocess.run(self.command("-t"), capture_output=True, text=True)
        said = done.stderr
        assert done.returncode == 0 and "[warn]" not in said, f"{said}\n{self.configuration.read_text()}"

    def __enter__(self):
        self.process = subprocess.Popen(self.command())
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.tls), 1).close()
                return self
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, "nginx did not start"

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def get(self, path, fields=(), method="GET", body=None):
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("127.0.0.1", self.tls, timeout=60, context=context)
        connection.request(method, path, body, headers=dict(fields))
        return connection.getresponse()


def certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem"],
        check=True, capture_output=True,
    )  # fmt: skip


def change_a_field(api, key):
    """A change of any field ends the files that are being sent, because a value could be in them that is not public now."""

    def send(method, body=None, **fields):
        request = urllib.request.Request(
            f"{api}/store/fields" + ("/colour" if body else ""),
            method=method,
            data=body and json.dumps(body).encode(),
            headers={"authorization": f"Bearer {key}", "content-type": "application/json", **fields},
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    [field] = [field for field in send("GET") if field["name"] == "colour"]
    members = {name: field[name] for name in ["kind", "choices", "public", "unique", "position"]}
    send("PUT", {**members, "label": "Coat"}, **{"if-match": f'"{field["version"]}"'})


def in_front_of_the_window(nginx, animals, api, key):
    with nginx:
        plain = http.client.HTTPConnection("127.0.0.1", nginx.plain, timeout=60)
        plain.request("GET", "/?x=1", headers={"host": "animals.example"})
        there = plain.getresponse()
        assert (there.status, there.getheader("location")) == (301, "https://animals.example/?x=1"), there.status
        whole = nginx.get("/animals.csv")
        rows = len(list(csv.reader(io.StringIO(whole.read().decode())))) - 1
        assert (whole.status, rows) == (200, animals), (whole.status, rows)
        packed = nginx.get("/animals.csv", {"accept-encoding": "gzip"})
        assert packed.getheader("content-encoding") == "gzip"
        rows = len(list(csv.reader(io.StringIO(gzip.decompress(packed.read()).decode())))) - 1
        assert rows == animals, rows
        # While the service merges the values of the import for its search, the tag changes.
        deadline = time.monotonic() + 120
        tag = whole.getheader("etag")
        while (known := nginx.get("/animals.csv", {"if-none-match": tag}, "HEAD")).status != 304:
            assert known.status == 200 and time.monotonic() < deadline, known.status
            tag = known.getheader("etag")
        cut = nginx.get("/animals.csv")
        assert cut.read(1)
        change_a_field(api, key)
        try:
            rest = cut.read()
        except http.client.IncompleteRead as error:
            print(f"A file that was cut off after {len(error.partial)} bytes is an error at the client.")
        else:
            raise AssertionError(f"a file that was cut off arrived as complete, with {len(rest)} bytes")


def in_front_of_the_interface(nginx, key):
    """A program reads, changes and reads, with nginx between that compresses JSON and so weakens the tags."""
    fields = {"authorization": f"Bearer {key}", "accept-encoding": "gzip"}
    path = "/v1/store/pets/1"

    def read():
        response = nginx.get(path, fields)
        pet = json.loads(gzip.decompress(response.read()))
        tag = response.getheader("etag")
        assert response.getheader("content-encoding") == "gzip" and tag == f'W/"{pet["version"]}"', tag
        return pet, tag

    with nginx:
        pet, tag = read()
        patch = {**fields, "content-type": "application/json", "if-match": tag}
        for name, status in [("Changed behind nginx", 200), ("Changed again", 412)]:
            changed = nginx.get(path, patch, "PATCH", json.dumps({"name": name}))
            assert changed.status == status, (changed.status, changed.read())
        again, _ = read()
        assert (again["version"], again["name"]) == (pet["version"] + 1, "Changed behind nginx"), again
        print("A program that reads through a compressing nginx changes what it has read, and not what is newer.")


def main():
    parser = argparse.ArgumentParser()
    for name in ["nginx", "window", "api", "key"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--animals", type=int, required=True)
    given = parser.parse_args()
    found = documents()
    names = {path.name for path in found}
    assert {"deployment.md", "window-operation.md", "console-operation.md"} <= names, names
    for path, servers in found.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            certificate(folder)
            Nginx(given.nginx, folder, servers).check()
            print(f"nginx accepts the {len(servers)} servers of {path}.")
            if path.name == "window-operation.md":
                window = f"http://{urlsplit(given.window).netloc}"
                in_front_of_the_window(Nginx(given.nginx, folder, servers, window), given.animals, given.api, given.key)
            if path.name == "deployment.md":
                interface = f"http://{urlsplit(given.api).netloc}"
                compresses = "gzip on;\ngzip_types application/json;\n"
                nginx = Nginx(given.nginx, folder, servers, interface, compresses)
                in_front_of_the_interface(nginx, given.key)


main()
