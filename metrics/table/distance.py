"""Exact edit distance of ordered trees, vectorised over rows of its dynamic programme.

The algorithm is Zhang and Shasha's (SIAM J. Comput. 18(6), 1989) for unit insertions and
deletions, turned from costs into savings. Mapping a node onto another saves the deletion
and the insertion, 2, less the cost of renaming. With S(i, j) the most that can be saved
between forests that end in nodes i and j (in postorder, l the leftmost leaf below a node)

    S(i, j) = max(S(i - 1, j), S(i, j - 1), S(l(i) - 1, l(j) - 1) + saving(tree i, tree j))

and the distance is the number of nodes of both trees less the savings of the whole. A row
of S is then a gather, an addition and a running maximum, whatever the renaming costs.

What makes it fast on tables: what the two trees share at both ends and above is cut off
first; a leaf against a subtree is a closed form (the best node to keep); subtrees of one
shape, such as the rows of a table, go through the programme together; and the trees are
mirrored where that leaves less to do. None of it changes the value.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from lmms_eval_finance.metrics.table.trees import Node, TedsLimit

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.intp]

# Work between two looks at the clock, in products of text lengths and in matrix entries.
_LENGTHS_AT_ONCE = 4_000_000_000
_ENTRIES_AT_ONCE = 1 << 18


def tree_edit_distance(first: Node, second: Node, *, deadline: float = float("inf")) -> float:
    """The least cost of turning one tree into the other; 0 for equal trees.

    Inserting or deleting a node costs 1 and joins its children to its parent's; renaming costs
    1 between unequal labels, else the normalised Levenshtein distance of the texts.

    Args:
        first: root of the one tree.
        second: root of the other.
        deadline: value of `time.monotonic` at which to give up.

    Raises:
        TedsLimit: the deadline has passed.

    >>> row = Node("tr", children=[Node("td", "12"), Node("td", "7")])
    >>> tree_edit_distance(row, Node("tr", children=[Node("td", "13"), Node("td", "7"), Node("td")]))
    1.5
    """
    ids: dict[Hashable, int] = {}
    one, other = _Flat.of(first, ids), _Flat.of(second, ids)
    left1, left2 = _trim(one, other)
    if len(left1) == 0 or len(left2) == 0:
        return float(len(left1) + len(left2))
    a, b = _Forest.of(one, left1), _Forest.of(other, left2)
    if a.mirrored_cost() * b.mirrored_cost() < a.cost() * b.cost():
        a, b = a.mirrored(), b.mirrored()
    savings = _leaf_savings(a, b, deadline)
    _tree_savings(a, b, savings, deadline)
    return float(a.size + b.size - savings[-1, -1])


@dataclass(frozen=True, slots=True)
class _Flat:
    """A tree in postorder; equal `ids` mean equal subtrees, across all trees of one call."""

    nodes: list[Node]
    sizes: list[int]
    ids: list[int]

    @classmethod
    def of(cls, root: Node, known: dict[Hashable, int]) -> _Flat:
        nodes, stack = [], [root]
        while stack:
            node = stack.pop()
            nodes.append(node)
            if node.children:
                stack.extend(node.children)
        nodes.reverse()
        sizes: list[int] = []
        ids: list[int] = []
        # Sizes and ids of the subtrees whose parent has not come yet.
        open_sizes: list[int] = []
        open_ids: list[int] = []
        for node in nodes:
            count = len(node.children)
            if count:
                key = (node.label, node.text, *open_ids[-count:])
                size = 1 + sum(open_sizes[-count:])
                del open_sizes[-count:], open_ids[-count:]
            else:
                key, size = (node.label, node.text), 1
            number = known.setdefault(key, len(known))
            sizes.append(size)
            ids.append(number)
            open_sizes.append(size)
            open_ids.append(number)
        return cls(nodes, sizes, ids)

    def children(self, node: int) -> list[int]:
        """Postorder numbers of a node's children, in order."""
        found, child, first = [], node - 1, node - self.sizes[node] + 1
        while child >= first:
            found.append(child)
            child -= self.sizes[child]
        found.reverse()
        return found


def _trim(a: _Flat, b: _Flat) -> tuple[range, range]:
    """Postorder ranges of the two forests that are left to compare.

    With unit insertions and deletions some cheapest mapping keeps equal subtrees at either end
    of two forests, and keeps two equal roots, so these can go.
    """
    forest1, forest2 = [len(a.nodes) - 1], [len(b.nodes) - 1]
    while True:
        start, shorter = 0, min(len(forest1), len(forest2))
        while start < shorter and a.ids[forest1[start]] == b.ids[forest2[start]]:
            start += 1
        end = 0
        while end < shorter - start and a.ids[forest1[-1 - end]] == b.ids[forest2[-1 - end]]:
            end += 1
        forest1, forest2 = forest1[start : len(forest1) - end], forest2[start : len(forest2) - end]
        if len(forest1) == len(forest2) == 1:
            one, other = a.nodes[forest1[0]], b.nodes[forest2[0]]
            if one.label == other.label and one.text == other.text:
                forest1, forest2 = a.children(forest1[0]), b.children(forest2[0])
                continue
        return _range(a, forest1), _range(b, forest2)


def _range(tree: _Flat, forest: list[int]) -> range:
    return range(forest[0] - tree.sizes[forest[0]] + 1, forest[-1] + 1) if forest else range(0)


@dataclass(frozen=True, slots=True)
class _Forest:
    """Siblings with all that is below them, in postorder, under a root of their own at the end.

    Attributes:
        labels: of all nodes but the root.
        texts: of all nodes, the root's empty.
        first: for each node the leftmost leaf below it (itself, for a leaf).
    """

    labels: list[Hashable]
    texts: list[str]
    first: Ints

    @classmethod
    def of(cls, tree: _Flat, part: range) -> _Forest:
        nodes = tree.nodes[part.start : part.stop]
        sizes = np.array([*tree.sizes[part.start : part.stop], len(part) + 1], dtype=np.intp)
        return cls(
            [n.label for n in nodes], [*(n.text for n in nodes), ""], np.arange(len(sizes)) - sizes + 1
        )

    @property
    def size(self) -> int:
        return len(self.texts)

    @property
    def inner(self) -> Ints:
        """Nodes with children, in order."""
        return np.flatnonzero(self.first < np.arange(self.size))

    @property
    def keyroots(self) -> Ints:
        """The topmost inner node above each leftmost leaf, in order."""
        topmost = np.zeros(self.size, dtype=np.intp)
        inner = self.inner
        np.maximum.at(topmost, self.first[inner], inner)
        return np.sort(topmost[topmost > 0])

    def cost(self) -> int:
        """What the programme costs on this side: nodes below all keyroots."""
        keyroots = self.keyroots
        return int((keyroots - self.first[keyroots] + 1).sum())

    def mirrored_cost(self) -> int:
        """The cost after `mirrored`: a node counts unless it is its parent's last child."""
        inner = self.inner
        keyroots = inner[np.append(~np.isin(inner[:-1] + 1, inner), True)]
        return int((keyroots - self.first[keyroots] + 1).sum())

    def mirrored(self) -> _Forest:
        """The same forest with all siblings in opposite order."""
        numbers = np.arange(self.size)
        sizes = numbers - self.first + 1
        # A subtree covers its nodes but the root: how many cover a node is its depth.
        depth = np.cumsum(np.bincount(self.first, minlength=self.size) - 1)
        # Preorder counts what stands left of a node and above it; backwards it is the mirror's postorder.
        order = np.empty_like(numbers)
        order[self.size - 1 - (depth + numbers - sizes + 1)] = numbers
        nodes = order.tolist()
        return _Forest(
            [self.labels[node] for node in nodes[:-1]],
            [self.texts[node] for node in nodes],
            numbers - sizes[order] + 1,
        )

    def levels(self) -> list[list[int]]:
        """Keyroots by how deep keyroots nest below them; those of one level are disjoint."""
        levels: list[list[int]] = []
        below: list[tuple[int, int]] = []
        for node in self.keyroots.tolist():
            level = 0
            while below and below[-1][0] >= self.first[node]:
                level = max(level, below.pop()[1] + 1)
            below.append((node, level))
            if level == len(levels):
                levels.append([])
            levels[level].append(node)
        return levels

    def below(self) -> Iterator[tuple[int, list[slice]]]:
        """Each inner node, in order, with its children in stretches (of one, unless all are leaves)."""
        first = self.first.tolist()
        before = -1
        for node in self.inner.tolist():
            if before < first[node]:
                stretches = [slice(start, min(start + 64, node)) for start in range(first[node], node, 64)]
            else:
                stretches = []
                child = node - 1
                while child >= first[node]:
                    stretches.append(slice(child, child + 1))
                    child = first[child] - 1
            before = node
            yield node, stretches


def _leaf_savings(a: _Forest, b: _Forest, deadline: float) -> Floats:
    """Savings between subtrees of which one is a leaf; between inner nodes, those of the nodes alone."""
    numbers: dict[Hashable, int] = {}
    labels1, labels2 = (
        np.array([numbers.setdefault(label, len(numbers)) for label in forest.labels] + [-1])
        for forest in (a, b)
    )
    savings = np.empty((a.size, b.size))
    kwargs: dict[str, Any] = {"scorer": Levenshtein.normalized_distance, "dtype": np.float64}
    for rows in _blocks(a.texts, b.texts):
        _check(deadline)
        block = savings[rows]
        np.subtract(2.0, cdist(a.texts[rows], b.texts, **kwargs), out=block)
        block[labels1[rows, None] != labels2] = 1.0
    # A leaf keeps the best node of a subtree: the rest of the subtree is inserted or deleted.
    inner2 = b.inner
    for node, below in b.below():
        column = savings[:, node]
        for part in below:
            # Copied, because numpy is slow along short rows.
            np.maximum(column, savings[:, part].T.copy().max(axis=0), out=column)
    _check(deadline)
    for node, below in a.below():
        row = savings[node]
        for part in below:
            np.maximum(row, savings[part].max(axis=0), out=row)
        row[inner2] = 1.0 + (labels2[inner2] == labels1[node])
    return savings


def _blocks(texts1: Sequence[str], texts2: Sequence[str]) -> Iterator[slice]:
    """Rows of the matrix of text distances, cut so that the clock is looked at often enough."""
    across = sum(map(len, texts2)) + 64 * len(texts2)
    start, work = 0, 0
    for row, text in enumerate(texts1):
        work += (len(text) + 64) * across
        if work >= _LENGTHS_AT_ONCE or row == len(texts1) - 1:
            yield slice(start, row + 1)
            start, work = row + 1, 0


def _tree_savings(a: _Forest, b: _Forest, savings: Floats, deadline: float) -> None:
    """Fill in the savings between subtrees that are both inner nodes, from the smallest up."""
    levels1, levels2 = a.levels(), b.levels()
    columns1 = [_Columns(a, keys) for keys in levels1]
    columns2 = [_Columns(b, keys) for keys in levels2]
    shapes1 = [list(_shapes(a, keys)) for keys in levels1]
    shapes2 = [list(_shapes(b, keys)) for keys in levels2]
    for level1, keys1 in enumerate(levels1):
        for level2, keys2 in enumerate(levels2):
            # The rows of the programme are taken from the side with the smaller subtrees.
            if _largest(a, keys1) <= _largest(b, keys2):
                matrix, shapes, columns = savings, shapes1[level1], columns2[level2]
            else:
                matrix, shapes, columns = savings.T, shapes2[level2], columns1[level1]
            for shape, starts in shapes:
                at_once = max(1, _ENTRIES_AT_ONCE // columns.width)
                for begin in range(0, len(starts), at_once):
                    _programme(matrix, shape, starts[begin : begin + at_once], columns, deadline)


def _largest(forest: _Forest, keys: list[int]) -> int:
    return max(key - int(forest.first[key]) for key in keys)


def _shapes(forest: _Forest, keys: list[int]) -> Iterator[tuple[list[int], Ints]]:
    """Keyroots grouped by the shape below them: leftmost leaves counted from the first, and first leaves."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for key in keys:
        start = int(forest.first[key])
        groups.setdefault(tuple((forest.first[start : key + 1] - start).tolist()), []).append(start)
    for shape, starts in groups.items():
        yield list(shape), np.array(starts)


class _Columns:
    """The subtrees below keyroots of one level, side by side, as columns of the programme.

    A row has one border entry for each subtree (the empty forest), then all nodes of the first
    subtree, of the second, and so on. Later subtrees start from a value that earlier ones cannot
    exceed, so one running maximum over the whole row serves them all.

    Attributes:
        count: number of subtrees; `width` of entries in a row.
        nodes: the nodes that the entries after the border stand for.
        before: for each such entry the entry that stands for what precedes its node's subtree.
        path: entries of inner nodes that start where their keyroot starts, their `path_nodes`,
            what these subtrees start from (`path_base`) and the entries just `ahead` of them.
        empty: the row of the empty forest.
    """

    def __init__(self, forest: _Forest, keys: list[int]) -> None:
        last = np.array(keys)
        first = forest.first[last]
        sizes = last - first + 1
        self.count = len(keys)
        self.width = self.count + int(sizes.sum())
        subtree = np.repeat(np.arange(self.count), sizes)
        entries = np.arange(self.width - self.count)
        begin = np.cumsum(sizes) - sizes
        nodes = entries - begin[subtree] + first[subtree]
        leading = forest.first[nodes] == first[subtree]
        self.nodes = slice(int(first[0]), keys[0] + 1) if self.count == 1 else nodes
        self.before: Ints = np.where(
            leading, subtree, self.count + entries - (nodes - forest.first[nodes]) - 1
        )
        self.path: Ints = np.flatnonzero(leading & (nodes > first[subtree]))
        self.path_nodes: Ints = nodes[self.path]
        self.ahead: Ints = self.count + self.path - 1
        base = 2.0 * begin
        self.path_base: Floats = base[subtree[self.path]]
        self.empty: Floats = np.concatenate([base, base[subtree]])


def _programme(savings: Floats, shape: list[int], starts: Ints, columns: _Columns, deadline: float) -> None:
    """Savings of the subtrees of one shape that start at `starts` against those in the columns."""
    one = len(starts) == 1
    start: Any = int(starts[0]) if one else starts
    border = columns.count
    previous = columns.empty if one else np.tile(columns.empty, (len(starts), 1))
    last_use = {before: step for step, before in enumerate(shape)}
    rows = {0: previous}
    for step, before in enumerate(shape):
        _check(deadline)
        nodes = start + step
        matched = rows[before].take(columns.before, axis=-1)
        matched += savings[nodes][..., columns.nodes]
        inner = before == 0 and step > 0
        if inner:
            pairs = (nodes, columns.path_nodes) if one else np.ix_(nodes, columns.path_nodes)
            matched[..., columns.path] = previous[..., columns.ahead] + savings[pairs]
        rows[step + 1] = row = previous.copy()
        entries = row[..., border:]
        np.maximum(entries, matched, out=entries)
        np.maximum.accumulate(entries, axis=-1, out=entries)
        if inner:
            savings[pairs] = entries[..., columns.path] - columns.path_base
        previous = row
        for done in (before, step):
            if last_use.get(done, -1) <= step:
                rows.pop(done, None)


def _check(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TedsLimit("the time limit has passed")
