"""The workloads, each with its baseline."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from contextlib import ExitStack
from statistics import median

from bench.catalogue import Catalogue
from bench.load import Measurement, Void, medians
from bench.machine import pinned
from bench.requests import (
    FIRST_PAGE, STATUS_BYTES, create_requests, get, orders_target, page_target, path, random_keys,
    write_orders,
)
from bench.results import Row, Spread
from bench.runner import WARM_UP, Bench, Subject, show
from bench.servers import Server, ask, exchange

# So many different pages and animals are asked for in turn that no cache of a
# sensible size contains the responses.
PLACES = 100_000
PLACES_SEED = 3

# The number of responses from which nginx gets a typical body.
BODIES = 201

CREATES = 1_000

# The animals with values of their fields and photos, and the length of a photo.
DESCRIBED = 100_000
PHOTO = 100_000

STARTS = 10
FIRST_ANSWERS = 1_000
IDLE_CONNECTIONS = 4_096
SIZES = (10_000, 1_000_000, 10_000_000)
SMALL, USUAL, LARGE = SIZES


def first_page(bench: Bench) -> list[Row]:
    title = "First page of `?status=available`"
    requests = [first_page_request(bench)]
    return [beside_nginx(bench, "A", title, requests, must=0.80, goal=1.00)]


def random_pages(bench: Bench) -> list[Row]:
    title = "Random pages of 20"
    catalogue = bench.catalogues[USUAL]
    requests = page_requests(catalogue)
    server = bench.launcher.petstore(catalogue, requests[0])
    with bench.running(server):
        check_cursors(server, catalogue)
    return [beside_nginx(bench, "B", title, requests, must=0.45, goal=0.60)]


def by_id(bench: Bench) -> list[Row]:
    title = "One random animal by id"
    catalogue = bench.catalogues[USUAL]
    places = catalogue.sample(PLACES, PLACES_SEED)
    requests = [get(f"/v1/pets/{pet}", catalogue.key) for pet, _ in places]
    return [beside_nginx(bench, "C", title, requests, must=0.60, goal=0.85)]


def new_connections(bench: Bench) -> list[Row]:
    title = "A, a new connection for every 10"
    # Every tenth request ends its connection. Which one that is depends on
    # how the connections take turns; on average each carries ten.
    key = bench.catalogues[USUAL].key
    requests = [first_page_request(bench)] * 9 + [get(FIRST_PAGE, key, "Connection: close")]
    return [beside_nginx(bench, "J", title, requests, must=0.70, goal=0.90)]


def access_log(bench: Bench) -> list[Row]:
    return [beside_nginx(bench, "log", "A", [first_page_request(bench)], access_log=True)]


def beside_nginx(
    bench: Bench,
    letter: str,
    title: str,
    requests: list[bytes],
    must: float | None = None,
    goal: float | None = None,
    access_log: bool = False,
    catalogue: Catalogue | None = None,
    listener: str = "--listen",
) -> Row:
    """The requests put to the server, and to nginx, which answers each with
    the same file: a typical body of the server's."""
    catalogue = catalogue or bench.catalogues[USUAL]
    catalogue.warm()
    options = ["--access-log"] if access_log else []
    sent = bench.rotation(requests)
    nginx, petstore, logged = [], [], []
    for rounds in bench.sittings():
        ours = bench.launcher.petstore(catalogue, requests[0], *options, listener=listener)
        with bench.running(ours):
            chosen, body = typical(ours, requests)
            # nginx would look for an index below this path.
            alike = chosen.replace(b"GET / ", b"GET /page ", 1)
            theirs = bench.launcher.nginx(path(alike), body, alike, access_log)
            # nginx ignores queries, but not paths.
            one_path = all(path(each) == path(alike) for each in requests)
            with bench.running(theirs):
                found = bench.measure(
                    Subject(f"{letter} nginx", theirs, sent if one_path else bench.rotation([alike])),
                    Subject(f"{letter} petstore", ours, sent),
                    rounds=rounds,
                )
        nginx += found[0]
        petstore += found[1]
        logged.append(ours.logged_share() if access_log else 1)
    if access_log:
        title += f", {min(logged):.0%} of the lines written"
    ratio = Spread.of_ratios([each.cost for each in nginx], [each.cost for each in petstore])
    return Row(
        letter, title, f"nginx, {len(body):,} bytes", ratio, must, goal,
        ours=medians(petstore), theirs=medians(nginx),
    )


def typical(server: Server, requests: list[bytes]) -> tuple[bytes, bytes]:
    """The request whose response has the median length, and the body of that response."""
    some = requests[:BODIES]
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        answers = [(each, exchange(connection, each)[1]) for each in some if b"\r\nConnection: close" not in each]
    answers.sort(key=lambda answer: len(answer[1]))
    return answers[len(answers) // 2]


def first_page_request(bench: Bench) -> bytes:
    return get(FIRST_PAGE, bench.catalogues[USUAL].key)


def page_requests(catalogue: Catalogue) -> list[bytes]:
    places = places_of_walks(catalogue)
    return [get(page_target(status, after), catalogue.key) for status, after in places]


def places_of_walks(catalogue: Catalogue) -> list[tuple[str | None, int]]:
    """Where walks may stand: a quarter among all animals, the rest among those
    of a status, after one that has it."""
    places = catalogue.sample(PLACES, PLACES_SEED)
    return [(status if index % 4 else None, pet) for index, (pet, status) in enumerate(places)]


def check_cursors(server: Server, catalogue: Catalogue) -> None:
    """Holds the cursors that we make against the server's own: it takes ours,
    and its link to the page after that is what we would have made."""
    places = places_of_walks(catalogue)
    for wanted in STATUS_BYTES:
        # The first of them, because a page certainly follows it.
        after = min(pet for status, pet in places if status == wanted)
        head, body = ask(server.port, get(page_target(wanted, after), catalogue.key))
        last = int(body.rpartition(b'{"id":')[2].partition(b",")[0])
        link = f'<{page_target(wanted, last)}>; rel="next"'
        if link.encode() not in head:
            raise Void(f"cursors have changed: the benchmark makes {link}, the server says\n{head.decode()}")


def creates(bench: Bench) -> list[Row]:
    title = "Create, every 201 on disk"
    durable, careless = (bench.copy(bench.catalogues[USUAL]) for _ in range(2))
    before = durable.highest_id()
    first = first_page_request(bench)
    requests = bench.rotation(create_requests(CREATES, durable.key))
    ours = bench.launcher.petstore(durable, first)
    theirs = bench.launcher.petstore(careless, first, preload=bench.no_sync)
    with bench.running(ours, theirs):
        unsafe, safe = bench.measure(
            Subject("D synchronous=OFF", theirs, requests),
            Subject("D petstore", ours, requests),
        )
    if durable.highest_id() - before < sum(each.answers for each in safe):
        raise Void("the file holds fewer animals than were acknowledged")
    costs = Spread.of_ratios([each.cost for each in unsafe], [each.cost for each in safe])
    rates = Spread.of_ratios([each.rate for each in safe], [each.rate for each in unsafe])
    return [Row(
        "D", title, f"`synchronous=OFF` (by rate: {rates.middle:.2f})", costs, 0.70, 0.90,
        ours=medians(safe), theirs=medians(unsafe),
    )]


def creates_one_by_one(bench: Bench) -> list[Row]:
    title = "Create, 1 connection"
    catalogue = bench.copy(bench.catalogues[USUAL])
    requests = bench.rotation(create_requests(CREATES, catalogue.key))
    server = bench.launcher.petstore(catalogue, first_page_request(bench))
    disk, ours = [], []
    with bench.running(server):
        bench.load.measure(server, requests, 1, WARM_UP)
        for _ in range(bench.rounds):
            disk.append(durable_appends(bench))
            ours.append(bench.load.measure(server, requests, 1, bench.seconds))
            print(f"  E append + fdatasync {disk[-1]:,.0f}/s", file=sys.stderr)
            show("E petstore", ours[-1])
    ratio = Spread.of_ratios([each.rate for each in ours], disk)
    return [Row(
        "E", title, f"append + fdatasync, {median(disk):,.0f}/s", ratio, 0.40, 0.60,
        ours=medians(ours),
    )]


def durable_appends(bench: Bench) -> float:
    """How often a second this machine can make 4 KiB durable, in the file
    system that holds the catalogues."""
    file = bench.folder / "append"
    with pinned({bench.load.server_core}):
        printed = subprocess.check_output([bench.append_sync, file, str(bench.seconds)], text=True)
    file.unlink()
    writes, seconds = printed.split()
    return int(writes) / float(seconds)


def window(bench: Bench) -> list[Row]:
    catalogue = bench.copy(bench.catalogues[USUAL])
    catalogue.describe(DESCRIBED)
    pets = catalogue.on_offer(DESCRIBED)
    random.Random(PLACES_SEED).shuffle(pets)
    pages = [public(f"/animals/{pet}") for pet in pets]
    photo = f"{PLACES_SEED:032x}-medium.jpg"
    folder = catalogue.database.parent / "photos" / photo[:2]
    folder.mkdir(parents=True)
    # The server does not look at what it sends.
    (folder / photo).write_bytes(random.Random(PLACES_SEED).randbytes(PHOTO))
    to_window = {"catalogue": catalogue, "listener": "--window-listen"}
    photos = [public(f"/photos/{photo}")]
    return [
        beside_nginx(bench, "M", "First page of the window", [public("/")], 0.70, 0.85, **to_window),
        beside_nginx(bench, "N", f"Random pages of {DESCRIBED:,} animals", pages, 0.25, 0.40, **to_window),
        beside_nginx(bench, "O", "A photo", photos, 0.50, 0.70, **to_window),
    ]


def public(target: str) -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def sales(bench: Bench) -> list[Row]:
    creating, ascending, random_keyed = (bench.copy(bench.catalogues[USUAL]) for _ in range(3))
    servers = [
        bench.launcher.petstore(catalogue, first_page_request(bench))
        for catalogue in (creating, ascending, random_keyed)
    ]
    available = ascending.available()
    orders = [
        write_orders(ascending.key, available, bench.folder / "sales"),
        write_orders(random_keyed.key, available, bench.folder / "random-sales", random_keys()),
    ]
    with bench.running(*servers):
        creates, pairs, random_pairs = bench.measure(
            Subject("K creates", servers[0], bench.rotation(create_requests(CREATES, creating.key))),
            Subject("K pairs", servers[1], orders[0]),
            Subject("K pairs, random keys", servers[2], orders[1]),
        )
    title = "Place and complete an order, each response on disk"
    return [
        sales_row(title, ascending, pairs, creates),
        sales_row("K with random keys", random_keyed, random_pairs, creates),
    ]


def sales_row(title: str, sold: Catalogue, pairs: list[Measurement], creates: list[Measurement]) -> Row:
    with sold.reading() as connection:
        completed = connection.execute("SELECT count(*) FROM orders WHERE status = 'completed'").fetchone()[0]
    if completed < sum(each.answers for each in pairs):
        raise Void("the file holds fewer completed orders than were acknowledged")
    rates = Spread.of_ratios([each.rate for each in pairs], [each.rate for each in creates])
    return Row("K", title, "D, by rate", rates, ours=medians(pairs), theirs=medians(creates))


def pages_of_orders(bench: Bench) -> list[Row]:
    catalogue = bench.copy(bench.catalogues[USUAL])
    last = catalogue.add_orders()
    draw = random.Random(PLACES_SEED)
    requests = [get(orders_target(draw.randint(1, last - 20)), catalogue.key) for _ in range(PLACES)]
    server = bench.launcher.petstore(catalogue, requests[0])
    with bench.running(server):
        animals, orders = bench.measure(
            Subject("L animals", server, bench.rotation(page_requests(catalogue))),
            Subject("L orders", server, bench.rotation(requests)),
        )
    ratio = Spread.of_ratios([each.cost for each in animals], [each.cost for each in orders])
    return [Row(
        "L", "Random pages of 20 orders", "B", ratio, 0.50, 0.75, ours=medians(orders), theirs=medians(animals),
    )]


def mixed(bench: Bench) -> list[Row]:
    title = "90 % A, 10 % D"
    catalogue = bench.copy(bench.catalogues[USUAL])
    reading = first_page_request(bench)
    writing = create_requests(CREATES, catalogue.key)
    # Nine reads and a write in turn: bursts of writes would share commits.
    mix = [each for write in writing for each in [reading] * 9 + [write]]
    server = bench.launcher.petstore(catalogue, reading)
    with bench.running(server):
        reads, writes, both = bench.measure(
            Subject("F reads alone", server, bench.rotation([reading])),
            Subject("F creates alone", server, bench.rotation(writing)),
            Subject("F mixed", server, bench.rotation(mix)),
        )
    by_hand = [0.9 * read.cost + 0.1 * write.cost for read, write in zip(reads, writes)]
    ratio = Spread.of_ratios(by_hand, [each.cost for each in both])
    return [Row(
        "F", title, f"0.9 A + 0.1 D, {median(by_hand):.1f} µs", ratio, 0.80, 0.95,
        ours=medians(both),
    )]


def sizes(bench: Bench) -> list[Row]:
    title = "B at 10 M animals"
    with ExitStack() as stack:
        subjects = []
        for size in SIZES:
            catalogue = bench.catalogues[size]
            catalogue.warm()
            requests = page_requests(catalogue)
            server = bench.launcher.petstore(catalogue, requests[0])
            stack.enter_context(bench.running(server))
            subjects.append(Subject(f"G {size:,}", server, bench.rotation(requests)))
        rounds = bench.measure(*subjects)
    small, _, large = rounds
    ratio = Spread.of_ratios([each.cost for each in large], [each.cost for each in small])
    return [Row(
        "G", title, "B at 10 k animals", ratio, 1.5, 1.2, higher_is_better=False,
        ours=medians(large), theirs=medians(small),
        costs_by_size={size: Spread.of([each.cost for each in found]) for size, found in zip(SIZES, rounds)},
    )]


def starts(bench: Bench) -> list[Row]:
    catalogue = bench.catalogues[LARGE]
    catalogue.warm()
    took = []
    for _ in range(STARTS):
        with bench.launcher.petstore(catalogue, get(FIRST_PAGE, catalogue.key)) as server:
            took.append(server.wait_until_it_answers() * 1e3)
    print(f"  H {median(took):.1f} ms", file=sys.stderr)
    title = "Start to first response, 10 M animals"
    return [Row("H", title, "", Spread.of(took), 100, 50, unit="ms", higher_is_better=False)]


def memory(bench: Bench) -> list[Row]:
    catalogue = bench.catalogues[LARGE]
    requests = page_requests(catalogue)
    server = bench.launcher.petstore(catalogue, requests[0])
    with bench.running(server), ExitStack() as connections:
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            for each in requests[:FIRST_ANSWERS]:
                exchange(connection, each)
        idle = server.memory_mib()
        for each in requests[:IDLE_CONNECTIONS]:
            connection = connections.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            exchange(connection, each)
        connected = server.memory_mib()
    print(f"  I {idle:.1f} MiB, {connected:.1f} MiB", file=sys.stderr)
    title = f"Memory, {IDLE_CONNECTIONS:,} connections, 10 M animals"
    return [
        Row("I", "Memory, idle, 10 M animals", "", Spread.of([idle]), 64, 32, unit="MiB", higher_is_better=False),
        Row("I", title, "", Spread.of([connected]), 150, 100, unit="MiB", higher_is_better=False),
    ]


WORKLOADS = {
    "A": first_page,
    "B": random_pages,
    "C": by_id,
    "D": creates,
    "E": creates_one_by_one,
    "F": mixed,
    "G": sizes,
    "H": starts,
    "I": memory,
    "J": new_connections,
    "K": sales,
    "L": pages_of_orders,
    "M": window,
    "log": access_log,
}
