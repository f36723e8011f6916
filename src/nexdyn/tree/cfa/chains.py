"""The chains and nodes of a tree, for the rounds of odd–even elimination: who stands where.

A joint is a node's if it carries a body of several children (a node) or stands on one; the others lie in chains, rows of
joints between two joints of nodes, or from one to a leaf or to the world. This is the permutation (41)–(42) of the paper
with the innermost bodies o(j_m) of outer chains counted with their node, as its equation (13) has them: the blocks (36)
between them then stand among the nodes, and chains meet nodes only.

    joint, first, last  (rows,)   link of each row of the chains, and the rows where its chain begins and ends (inclusive)
    inner, outer        (rows,)   links of the nodes' joints at the two ends; 0: none
    row                 (nb + 1,) row of each link's joint; −1 of a node's
    nodes               (nodes,)  links of the nodes' joints, outward
    end                 (nodes,)  row at the outer end of the chain between such a joint and the next inward; −1 if they meet
    inward              (nodes,)  that next joint; 0: none
    on_node      (nb + 1,) whether a joint stands on a node
    carries_node (nb + 1,) the row in `node` if it carries one, else 0
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from nexdyn.records import Record, holds_records
from nexdyn.spatial.algebra import Motion
from nexdyn.spatial.mobility import Mobility
from nexdyn.tree.cfa.tables import ConstraintTables

RIGHT = 13
"""Columns on the right of a chain: 6 of the inner and 6 of the outer node's joint, and Ẋ."""


class Node(Record):
    """Of a node: Λ and β."""

    M: Mobility
    beta: Motion


@holds_records
class Chains(NamedTuple):
    """Structure, and the blocks that the rounds work on."""

    joint: Any
    first: Any
    last: Any
    inner: Any
    outer: Any
    row: Any
    nodes: Any
    end: Any
    inward: Any
    on_node: Any
    carries_node: Any
    # of every joint: W in the child and in the parent (a row a column of W), blocks of A, coupling with the joint inward, Ẋ
    W: Any
    W_p: Any
    A: Any
    L: Any
    S: Any  # factors
    least: Any  # and their least pivots
    x: Any
    u: Any  # Ĥ F_T, its acceleration, F_S, and the force left on a body
    alpha: Any
    F_S: Any
    net: Any
    # of every row: A, coupling with the row a stride inward (now and next), right side, A⁻¹ of all that neighbours ask for
    A_row: Any
    L_row: Any
    L_next: Any
    right: Any
    Z: Any
    # of every joint of a node: coupling with the next inward, its factors, Λ_p W_p
    link: Any
    Y: Any
    node: Annotated[Any, Node]
    sound: Any  # (nb + 1,): 0 where a pivot was not positive


def find_chains(cfa: ConstraintTables) -> Chains:
    """The chains of a tree and room for their blocks: some 4 kB a body."""
    index = cfa.index
    n = len(index)
    parent, node = index.parent, index.branches != 0
    on_node = np.zeros(n, dtype=np.int64)
    on_node[1:] = node[parent[1:]] & (parent[1:] > 0)
    separator = (on_node != 0) | node
    separator[0] = True
    row = np.full(n, -1)
    joint: list[int] = []
    first: list[int] = []
    inner: list[int] = []
    for i in range(1, n):
        if separator[i]:
            continue
        p = parent[i]
        row[i] = len(joint)
        # depth first, the only child of a body follows it: rows of a chain follow each other
        first.append(first[row[p]] if p > 0 and row[p] >= 0 else row[i])
        inner.append(inner[row[p]] if p > 0 and row[p] >= 0 else (p if p > 0 else 0))
        joint.append(i)
    count = len(joint)
    last, outer = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for r in range(count - 1, -1, -1):
        more = r + 1 < count and first[r + 1] == first[r]
        last[r] = last[r + 1] if more else r
        i = joint[r]
        outer[r] = outer[r + 1] if more else (0 if index[i].leaf else i + 1)
    nodes = np.flatnonzero(separator)[1:]
    end, inward = np.full(len(nodes), -1), np.zeros(len(nodes), dtype=np.int64)
    for k, i in enumerate(nodes.tolist()):
        p = parent[i]
        if p > 0 and not on_node[i]:
            end[k] = row[p]
            inward[k] = inner[row[p]] if row[p] >= 0 else p
    integers = [np.asarray(x, dtype=np.int64) for x in (joint, first, last, inner, outer)]
    structure = [*integers, row, nodes, end, inward, on_node, np.where(node, np.cumsum(node), 0)]
    of_joints = [*np.zeros((5, n, 6, 6)), *np.zeros((6, n, 6))]
    of_rows = [*np.zeros((3, count, 6, 6)), np.zeros((count, 6, RIGHT)), np.zeros((count, 6, 12 + RIGHT))]
    of_nodes = [
        *np.zeros((2, len(nodes), 6, 6)),
        np.zeros((1 + int(node.sum()), Node.columns)),
        np.ones(n, dtype=np.int64),
    ]
    return Chains(*structure, *of_joints, *of_rows, *of_nodes)


def rounds(chains: Chains) -> int:
    """K, the least integer not below log₂ of the longest chain."""
    longest = int((chains.last - chains.first + 1).max(initial=1))
    return (longest - 1).bit_length()
