"""How a system crosses into the kernels of the incremental potential. Body 0 is the ground and takes no unknowns.

A body is placed by its orientation and its centre of mass: its mass matrix is then the constant diag(I, m 1), I about
the centre of mass in the body's axes. Unknowns of a body in a step are x = (θ, δ): it turns by θ in its axes at the start
of the step and its centre moves by δ in the world. Body i is node i − 1 of the elimination.

    mass     float64 (nb + 1, 7)   m, I (xx, xy, xz, yy, yz, zz)
    rods     float64 (nb + 1, 10)  J, e, I_r of ``rod``; 0, 0 and I of a body that is not thin
    groups   int64 (ng, 9)         rows that are looked at together. Kind, pair, first row, rows, bodies a and b, place of the
                                   block of the two (−1 where one is the ground), whether b is eliminated before a. The
                                   kind is ROWS (of the constraint tables), HINGE (the six rows of ``hinge``), or COUPLED:
                                   one row between several pairs of bodies, with in place of pair and bodies its parts,
                                   slots and links (first, number)
    parts    int64 (…, 5)          terms of coupled rows: term, slots of its bodies a and b, place of their block, turned
    links    int64 (…, 3)          pairs of slots whose bodies share a block, and its place; the first is its row
    row_of   int64 (nr,)           the row of the constraint tables, −1 for those of hinges
    driven   int64 (nr,)           where the row's function of time starts in `functions`, or −1
    springs.index int64 (ns, 6)    of each scalar coordinate with an energy: law, first datum, bodies a and b, place of their
                                   block, turned; it is term e of `coordinates`
    loads.index   int64 (nl, 6)    of each other load: kind, element of `forces`, bodies a and b, place, turned
    contacts.index int64 (nk, 3)   of each point of contact: the spring in the height of its point, in the axes of the plane, or in the
                                   distance of centres; where in the springs' data are its y, ỹ, y a step before (three numbers
                                   each) and whether it slid, −1 of friction that is regularised; 0 of a plane, ±1 of a sphere
                                   from outside or in its hollow

Without springs, loads or contacts these are None; then nothing of them is compiled and nothing costs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from nexdyn.constraints.tables import ConstraintTables
from nexdyn.forces.tables import ForceTables
from nexdyn.linalg.plan import Plan

MASS, INERTIA = 0, 1
REST = 4
KIND, PAIR, FIRST, COUNT, BODY_A, BODY_B, PLACE, TURNED = range(8)
PART, SLOT, SLOTS, LINK, LINKS, PARTS = 1, 4, 5, 6, 7, 8
TERM, SLOT_A, SLOT_B, PART_PLACE, PART_TURNED = range(5)
GROUP_COLUMNS = 9
ROWS, HINGE, COUPLED = range(3)
NONE = -1
SPRING_LAW, SPRING_DATA, SPRING_A, SPRING_B, SPRING_PLACE, SPRING_TURNED = range(6)
LINEAR, TABLE, EFFORT, USER, ACTUATED, STOP, CONTROLLED, BRISTLE = range(8)
LOAD_KIND, LOAD_ELEMENT, LOAD_A, LOAD_B, LOAD_PLACE, LOAD_TURNED = range(6)
ELEMENT, BALL, FLOATING, SURFACE = range(4)
CONTACT_SPRING, CONTACT_STATE, CONTACT_SIDE = range(3)
ROW, RADIUS, RUNS_A, RUNS_B, ACROSS, ALONG_A, ALONG_B = 19, 5, 6, 9, 12, 13, 16
"""Numbers of a point of contact: of its friction, r_A, the velocities of the surfaces of A and B in their axes, ρ and e in either's."""


class SpringTables(NamedTuple):
    """Springs, frames about the centres of mass; of each the c and its rate, then those of a step before, (ns, 4), what
    angles are near (ns,), and as scratch c, dE/dc, d²E/dc² (ns, 3), derivatives of c for x (ns, 16), c̃ and r̃ (ns, 2).
    own int64 (nz,): where in `data` the states of forces are (``own_states``), −1 of a force that is off. unit (ns,): 1 of an angle, of
    a length that of the mechanism."""

    index: Any
    data: Any
    coordinates: ConstraintTables
    state: Any
    near: Any
    value: Any
    G: Any
    past: Any
    near_now: Any
    own: Any
    unit: Any


class LoadTables(NamedTuple):
    """Loads, frames about the centres of mass; r̃, r and r of a step before (nl, 18); as scratch Q(0) and Q (nl, 12), and their
    differences (24, 6). held int64 (nl,): where in `states`, the data of springs, friction of a surface has y, ỹ, y a step before (four
    numbers each), whether it slid, and dt̃ as a part of dt, and behind them what resists rolling; −1 of what holds nothing."""

    index: Any
    forces: ForceTables
    rates: Any
    before: Any
    now: Any
    rate: Any
    held: Any
    states: Any


class ContactTables(NamedTuple):
    """Friction of contacts: data (19 nk,) μ and v_f, or those of ``sticking``, r_A, the velocities of surfaces, ρ and e; of the last
    `take_pressure` f_n (nk,), J (2 nk, 16), the part of u by surfaces that run (nk, 2)
    and of what sticks √σ, K, μ f_n, the bound of y, d̃/dt and √σ ỹ (nk, 7), and whether the Hessian is to be careful (1,); as scratch u
    and s, |F| of what sticks (nk, 3)."""

    index: Any
    data: Any
    pressure: Any
    grip: Any
    J: Any
    run: Any
    careful: Any
    slip: Any
    varying: Any
    """int64 (nv, 4): the points whose coefficients are functions of time, where the data of their contact and its functions begin in
    `source`, numbered as those of forces, and the force."""
    source: Any


class PotentialModel(NamedTuple):
    """What does not change: masses, gravity, constraints (frames about the centres of mass), the plan of elimination."""

    mass: Any
    rods: Any
    gravity: Any
    constraints: ConstraintTables
    groups: Any
    parts: Any
    links: Any
    slot_body: Any
    """(nr + slots,) the body of a slot of a coupled row; rows come first."""
    row_of: Any
    driven: Any
    functions: Any
    springs: Any
    """SpringTables or None."""
    loads: Any
    """LoadTables or None."""
    contacts: Any
    """ContactTables or None."""
    plan: Plan
    diagonal: Any
    spare: Any
    """(nb + 1, 2): inertia and mass that the Hessian takes where a body has next to none (``spatial.borrowed``)."""
    length: float
    """Size of the mechanism [m]; `reach` that of its bodies, the longest arm of a joint."""
    reach: float
    units: Any
    """(nr,) what makes numbers of the rows, lengths beside `reach`."""
    angles: Any
    angle_frames: Any
    expected: Any
    """The angles that are counted, see ``constraints.turns``."""


class PotentialState(NamedTuple):
    """What a step changes.

    q (nb + 1, 7): unit quaternion, centre of mass; v, a (nb + 1, 6): (ω, ω̇ in the body's axes, velocity and acceleration
    of the centre in the world); lam (nr,) multipliers [force × dt²]; mu (nr,); run (6,): μ as a multiple of the masses
    that rows move, dt of the last step or 0, dt̃ and |C| of the same, whether its x − x̂ lay nearer to the straight line of
    the two before than to the last, how many steps up to it were alike (of a start at rest as many as serve, 0 of a step with
    an impact); near (nk,) what angles are counted near; of the last step moved (nb + 1, 6) the increments, v_before v at its
    start, off x − x̂; off_before and lam_before of the one before.
    """

    q: Any
    v: Any
    a: Any
    lam: Any
    mu: Any
    run: Any
    near: Any
    moved: Any
    v_before: Any
    off: Any
    off_before: Any
    lam_before: Any


class PotentialWork(NamedTuple):
    """Scratch of a step: poses at its start and at x, world rotations of dθ, and all that belongs to x."""

    base: Any
    """(nb + 1, 12) Rₙ and the centre of mass."""
    pose: Any
    """(nb + 1, 12) R and δ at x."""
    turning: Any
    """(nb + 1, 9) A: world rotation of dθ."""
    x: Any
    """(nb + 1, 6) increments; `start` those from which a line search starts, `free` x̂."""
    start: Any
    free: Any
    rod: Any
    """(nb + 1, 6) of thin bodies û − e, and g."""
    past: Any
    """(nb + 1, 6) x̃: the velocity at x is (x − x̃)/dt̃."""
    force: Any
    """(nb + 1, 6) derivative of the energies of joints and springs for world rotations and translations."""
    gradient: Any
    """(nb, 8) of all energies for x."""
    step: Any
    """(nb, 8) Newton's step."""
    C: Any
    near: Any
    counted: Any
    """(nk,) `near` of the state."""
    J: Any
    """(nr + slots, 16) derivative of each row for x of body a and of body b, 8 columns each; then slots."""
    weight: Any
    """(nr,) the μ by which steps are judged, and Δλ."""
    change: Any
    blocks: Any
    scratch: Any
