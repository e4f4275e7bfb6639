"""The edit distance against three oracles: a recursion from the definition, zss, and apted."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
import zss
from rapidfuzz.distance import Levenshtein

from lmms_eval_finance.metrics.table.apted_engine import apted_distance
from lmms_eval_finance.metrics.table.distance import tree_edit_distance
from lmms_eval_finance.metrics.table.trees import Node, TedsLimit

EXACT = pytest.approx


def random_tree(size: int, rng: random.Random, labels: str = "abc") -> Node:
    """A tree of that many nodes, from bushy to nearly a path; leaves have short texts."""
    nodes = [Node(rng.choice(labels))]
    depth_bias = rng.random() * 0.8
    for _ in range(size - 1):
        parent = nodes[-1] if rng.random() < depth_bias else rng.choice(nodes)
        child = Node(rng.choice(labels))
        parent.children.insert(rng.randint(0, len(parent.children)), child)
        nodes.append(child)
    for node in nodes:
        if not node.children:
            node.text = "".join(rng.choice("xyz") for _ in range(rng.randint(0, 3)))
    return nodes[0]


def random_table(rows: int, columns: int, rng: random.Random) -> Node:
    """A tree of a table's shape, with spans, few distinct texts, and uneven rows."""
    body = []
    for _ in range(rows):
        cells = [
            Node(("td", rng.choice([1, 1, 1, 2]), 1), rng.choice(["", "-", "12", "1,2", "合计"]))
            for _ in range(rng.randint(max(1, columns - 2), columns))
        ]
        body.append(Node("tr", children=cells))
    sections = [Node("thead", children=body[:1]), Node("tbody", children=body[1:])]
    return Node("table", children=sections if rng.random() < 0.5 else body)


def altered(tree: Node, rng: random.Random) -> Node:
    """A copy with a few nodes changed, removed or repeated, so that large parts are shared."""

    def copy(node: Node) -> Node:
        return Node(node.label, node.text, [copy(child) for child in node.children])

    result = copy(tree)
    nodes = [result]
    for node in nodes:
        nodes += node.children
    for node in rng.sample(nodes, min(len(nodes), rng.randint(0, 4))):
        match rng.randrange(4):
            case 0:
                node.label = rng.choice("abc")
            case 1 if node.children:
                del node.children[rng.randrange(len(node.children))]
            case 2 if node.children:
                node.children.append(copy(rng.choice(node.children)))
            case 3 if not node.children:
                node.text += "x"
    return result


def pairs(seed: int, count: int, largest: int) -> Iterator[tuple[Node, Node]]:
    rng = random.Random(seed)
    for _ in range(count):
        first = random_tree(rng.randint(1, largest), rng)
        yield first, altered(first, rng) if rng.random() < 0.5 else random_tree(rng.randint(1, largest), rng)


def rename(first: Node, second: Node) -> float:
    if first.label != second.label:
        return 1.0
    return Levenshtein.normalized_distance(first.text, second.text)


def by_definition(first: Node, second: Node) -> float:
    """The distance by the recursion on rightmost roots, without any of the faster ideas."""

    @cache
    def forests(one: tuple[Node, ...], other: tuple[Node, ...]) -> float:
        if not one or not other:
            return sum(node.count() for node in one + other)
        v, w = one[-1], other[-1]
        return min(
            forests((*one[:-1], *v.children), other) + 1,
            forests(one, (*other[:-1], *w.children)) + 1,
            forests(one[:-1], other[:-1]) + forests(tuple(v.children), tuple(w.children)) + rename(v, w),
        )

    return forests((first,), (second,))


def test_recursion_from_the_definition() -> None:
    for first, second in pairs(seed=1, count=150, largest=9):
        assert tree_edit_distance(first, second) == EXACT(by_definition(first, second), abs=1e-9)


def test_zss() -> None:
    for first, second in pairs(seed=2, count=150, largest=25):
        expected = zss.distance(
            first,
            second,
            get_children=lambda node: node.children,
            insert_cost=lambda _: 1,
            remove_cost=lambda _: 1,
            update_cost=rename,
        )
        assert tree_edit_distance(first, second) == EXACT(expected, abs=1e-9)


def test_apted_on_tables() -> None:
    rng = random.Random(3)
    for _ in range(30):
        first = random_table(rng.randint(1, 7), rng.randint(1, 6), rng)
        second = altered(first, rng) if rng.random() < 0.5 else random_table(rng.randint(1, 7), 5, rng)
        assert tree_edit_distance(first, second) == EXACT(apted_distance(first, second), abs=1e-9)


def test_apted_on_unusual_trees() -> None:
    for first, second in pairs(seed=4, count=250, largest=14):
        assert tree_edit_distance(first, second) == EXACT(apted_distance(first, second), abs=1e-9)


def test_symmetry_identity_and_triangle() -> None:
    rng = random.Random(5)
    for first, second in pairs(seed=5, count=100, largest=25):
        third = random_tree(rng.randint(1, 25), rng)
        distance = tree_edit_distance(first, second)
        assert tree_edit_distance(first, first) == 0
        assert tree_edit_distance(second, first) == EXACT(distance, abs=1e-9)
        assert tree_edit_distance(first, third) + tree_edit_distance(third, second) >= distance - 1e-9


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Node("a"), Node("a"), 0),
        (Node("a"), Node("b"), 1),
        (Node("a", "12"), Node("a", "13"), 0.5),
        (Node("a", "1"), Node("a"), 1),
        # A leaf against a subtree: the equal node inside it is kept.
        (Node("a"), Node("b", children=[Node("c", children=[Node("a")])]), 2),
        # A level taken out: its children move up at no cost.
        (
            Node("t", children=[Node("s", children=[Node("x"), Node("y")])]),
            Node("t", children=[Node("x"), Node("y")]),
            1,
        ),
        # Order matters.
        (Node("t", children=[Node("x"), Node("y")]), Node("t", children=[Node("y"), Node("x")]), 2),
    ],
)
def test_by_hand(first: Node, second: Node, expected: float) -> None:
    assert tree_edit_distance(first, second) == expected
    assert apted_distance(first, second) == expected


def test_depth_is_no_matter() -> None:
    def chain(length: int, label: str) -> Node:
        node = Node(label)
        for _ in range(length - 1):
            node = Node(label, children=[node])
        return node

    assert tree_edit_distance(chain(3_000, "a"), chain(2_000, "b")) == 3_000


@pytest.mark.parametrize("distance", [tree_edit_distance, apted_distance])
def test_the_deadline_holds_in_any_thread(distance: object) -> None:
    rng = random.Random(6)
    first, second = random_tree(300, rng), random_tree(300, rng)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(distance, first, second, deadline=time.monotonic() + 0.01)  # type: ignore[arg-type]
        with pytest.raises(TedsLimit, match="time limit"):
            running.result()


def test_apted_is_refused_what_it_has_no_memory_for() -> None:
    flat = Node("t", children=[Node("x") for _ in range(1_100)])
    with pytest.raises(TedsLimit, match="too many for apted"):
        apted_distance(flat, flat)
