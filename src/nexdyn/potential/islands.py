"""Islands: bodies that no block of the Hessian joins to others. Newton's iteration ends for each of them by itself.

A pile that rests needs one step where another, that has just been hit, needs ten. Once |C + J d| and what is left of x are small in an
island (``solve``), its bodies take their step whole and are still: from there on d is 0 of them, their multipliers stand, and surfaces
between them are not looked at again. What begins to press between bodies that no block joins wakes the islands of both.
"""

from __future__ import annotations

from nexdyn.kernel import formula
from nexdyn.potential.tables import Islands

LARGE = 1e300


@formula
def wake_all(work):
    """No body is still, and nothing is known of how steps shrink."""
    for i in range(1, len(work.still)):
        work.still[i] = 0.0
    for n in range(len(work.islands)):
        own = Islands(work.islands)[n]
        own.error_before, own.found = LARGE, 0.0


@formula
def wake_joined(work, entry, presses):
    """A spring or a load that presses between bodies without a block moves both."""
    if presses and entry.place < 0 and entry.body_a > 0 and entry.body_b > 0:
        work.still[entry.body_a] = work.still[entry.body_b] = 0.0


@formula
def wake(model, work):
    """An island of which a body moves moves as a whole."""
    for i in range(1, len(work.still)):
        if work.still[i] == 0.0:
            Islands(work.islands)[model.island[i]].found = 0.0
    for i in range(1, len(work.still)):
        work.still[i] = Islands(work.islands)[model.island[i]].found


@formula
def largest_error(model, work, for_turn, for_shift):
    """The error of each island: the largest of |θ| and |δ| of d in units of `for_turn` and `for_shift`. Returns the largest."""
    most = 0.0
    for n in range(len(work.islands)):
        Islands(work.islands)[n].error = 0.0
    for i in range(1, len(work.still)):
        d, own = work.step[i - 1], Islands(work.islands)[model.island[i]]
        turn = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) ** 0.5 / for_turn
        shift = (d[3] * d[3] + d[4] * d[4] + d[5] * d[5]) ** 0.5 / for_shift
        error = turn if turn > shift or turn != turn else shift
        if not error <= own.error:
            own.error = error
        if not error <= most:
            most = error
    return most


@formula
def rest(model, work, closed, small):
    """Bodies of islands that are closed, and of which the next step would be small, take theirs whole and are still. Whether all are."""
    all_rest = True
    for n in range(len(work.islands)):
        own = Islands(work.islands)[n]
        rate = min(1.0, own.error / own.error_before) if own.error_before < LARGE else 1.0
        if own.gap <= closed and own.error * rate <= small:
            own.found = 1.0
        all_rest = all_rest and own.found > 0.0
    for i in range(1, len(work.still)):
        if work.still[i] == 0.0 and Islands(work.islands)[model.island[i]].found > 0.0:
            work.still[i] = 1.0
            for k in range(6):
                work.start[i, k] += work.step[i - 1, k]
                work.step[i - 1, k] = 0.0
    return all_rest


@formula
def remember_errors(work, whole):
    """What steps are measured by next; nothing where this one was shortened."""
    for n in range(len(work.islands)):
        own = Islands(work.islands)[n]
        own.error_before = own.error if whole else LARGE
