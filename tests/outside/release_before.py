"""Runs the release before this one, and this one, on one database: at the same time, as in an upgrade, and
one after the other. Each must read what the other wrote, also changes of a type that neither knows.
"""

import argparse
import glob
import signal
import sqlite3
import subprocess
import sys

from tests.mirror.service import Client, Service, Wrong, free_port

# As a later release would log it.
CHANGE = """INSERT INTO changes (type, subject_id, version, pet_id, actor, at{latest_at})
    SELECT 'photo.added', 7, 1, 1, 'clock', at{latest_at} FROM changes
    WHERE at = (SELECT max(at) FROM changes) LIMIT 1"""
ACT = """INSERT INTO acts (seq, at, type, subject_id, actor, details)
    SELECT 0, max(at), 'photo.checked', 7, 'command', '{}' FROM changes"""


def expect(found, expected, what: str) -> None:
    if found != expected:
        raise Wrong(f"{what}: {found} instead of {expected}")


def execute(database: str, statement: str) -> None:
    kind, path = database.split(":", 1)
    if kind == "sqlite":
        connection = sqlite3.connect(path)
        with connection:
            connection.execute(statement)
        connection.close()
    else:
        psql = [*glob.glob("/usr/lib/postgresql/*/bin/psql"), "psql"][0]
        subprocess.run([psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, database], check=True)


def catalogue(client: Client) -> list:
    """The lists of the contract, and every animal of them by itself."""
    lists = [client.walk("/v1/pets?limit=2")]
    lists += [client.walk(f"/v1/pets?limit=2&status={status}") for status in ["available", "pending", "sold"]]
    return lists + [client.request("GET", f"/v1/pets/{pet['id']}")[:2] for pet in lists[0]]


def log(client: Client) -> list:
    """The types in the feed and in the audit trail; empty for a release without a log."""
    status, changes, _ = client.request("GET", "/v1/store/changes?after=start&limit=1000")
    if status == 404:
        return []
    expect(status, 200, "changes")
    entries = client.walk("/v1/store/audit?limit=100")
    return [change["type"] for change in changes] + [entry["type"] for entry in entries]


def create(client: Client, name: str, status: str = "available", retry: str = "") -> dict:
    fields = {"Idempotency_Key": f'"{retry}"'} if retry else {}
    made, pet, _ = client.request("POST", "/v1/pets", {"name": name, "categoryId": 1, "status": status}, **fields)
    expect(made, 201, f"create of {name}")
    return pet


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", required=True, help="the program of the release before")
    parser.add_argument("--petstore", required=True, help="the program of this release")
    parser.add_argument("--database", required=True)
    given = parser.parse_args()
    before, now = (Service(program, given.database, free_port()) for program in [given.before, given.petstore])
    try:
        run(before, now, given.database)
    finally:
        for service in [before, now]:
            if service.process and service.process.poll() is None:
                service.end(signal.SIGKILL)


def run(before: Service, now: Service, database: str) -> None:
    # The service creates the database.
    before.start()
    key = before.run("keys", "create", "--name", "shop", "--scope", "write")
    old, new = Client(before.port, key), Client(now.port, key)

    def agree(when: str) -> list:
        found = catalogue(new)
        expect(found, catalogue(old), f"{when}: the animals in this release")
        if known := log(Client(before.port, staff.key)):
            expect(log(staff), known, f"{when}: the log in this release")
        return found

    pets = [create(old, name, status) for name, status in
            [("Rex", "available"), ("Zoë", "available"), ("Max", "pending"), ("Tim", "sold"), ("Bo", "available")]]
    pets.append(create(old, "Frank", retry="before"))
    # Migrates, while the other one serves.
    now.start()
    staff = Client(now.port, now.run("keys", "create", "--name", "staff", "--scope", "store:admin"))
    agree("after the migration")
    expect(create(new, "Frank", retry="before"), pets[-1], "a retry of a request to the release before")
    made = create(new, "Ida", retry="now")
    expect(create(old, "Ida", retry="now"), made, "a retry of a request to this release")
    pets += [made, create(old, "Leo"), create(new, "Mia", "sold")]
    agree("after creates of both")

    def change(method: str, pet: dict, rest: str, body: dict) -> None:
        path = f"/v1/store/pets/{pet['id']}"
        tag = staff.request("GET", path)[2]["ETag"]
        status, reply, _ = staff.request(method, path + rest, body, If_Match=tag)
        expect(status, 200, f"{method} {path}{rest}: {reply}")
        agree(f"{method} {path}{rest}")

    def order(pet: dict, status: str) -> None:
        body = {"petId": pet["id"], "status": status, "reference": f"till {pet['id']}"}
        made, reply, _ = staff.request("POST", "/v1/store/orders", body, Idempotency_Key=f'"{pet["id"]}"')
        expect(made, 201, f"order: {reply}")
        agree(f"order of {pet['name']}")

    # Of animals that each of both added, before and after the migration.
    for pet, other in [(pets[0], pets[1]), (pets[6], pets[7])]:
        change("PATCH", pet, "", {"name": "Rex II", "categoryId": 9})
        order(pet, "reserved")
        order(other, "completed")
    change("POST", pets[4], "/withdraw", {"reason": "died"})
    change("POST", pets[4], "/restore", {})
    change("POST", pets[3], "/withdraw", {"reason": "transferred"})

    execute(database, CHANGE.format(latest_at=", latest_at" if database.startswith("sqlite:") else ""))
    execute(database, ACT)
    pets.append(create(old, "Eve"))
    change("PATCH", pets[-1], "", {"status": "sold"})
    types = log(staff)
    for kind, count in [("photo.added", 2), ("photo.checked", 1)]:
        expect(types.count(kind), count, f"how often the feed and the audit trail have {kind}")
    expect(types[types.index("photo.added") :].count("pet.changed") > 0, True, "changes after the unknown one")
    animals = agree("after changes of an unknown type")

    # The release before serves the newer schema if it can, or says why it does not.
    before.end(signal.SIGTERM)
    command = [before.program, "serve", "--listen", f"127.0.0.1:{before.port}", "--database", database]
    again = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        _, said = again.communicate(timeout=10)
        said = said.strip().splitlines()[-1]
        print(f"The release before does not start again: {said}")
        expect((again.returncode > 0, "schema version" in said), (True, True), f"its end, with {said!r}")
    except subprocess.TimeoutExpired:
        agree("after a restart of the release before")
        again.terminate()
        again.communicate()
    now.end(signal.SIGTERM)
    print(now.run("check"))
    now.start()
    expect(catalogue(new), animals, "the animals after a restart")
    expect(log(staff), types, "the log after a restart")
    now.end(signal.SIGTERM)
    print(f"Both releases agreed about {len(animals[0])} animals.")


if __name__ == "__main__":
    try:
        main()
    except Wrong as wrong:
        sys.exit(f"release-before: {wrong}")
