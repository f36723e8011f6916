"""How a system crosses into the kernels of the incremental potential. Body 0 is the ground and takes no unknowns.

A body is placed by its orientation and its centre of mass: its mass matrix is then the constant diag(I, m 1), I about
the centre of mass in the body's axes. Unknowns of a body in a step are x = (θ, δ): it turns by θ in its axes at the start
of the step and its centre moves by δ in the world. Body i is node i − 1 of the elimination.

    mass     float64 (nb + 1, 7)   `Central`
    rods     float64 (nb + 1, 10)  `Thin`
    groups   int64 (ng, 9)         rows that are looked at together: `Group`, of kind COUPLED `Coupled`
    parts    int64 (…, 5)          `Part`, `links` (…, 3) `Link` of coupled rows
    row_of   int64 (nr,)           the row of the constraint tables, −1 for those of hinges
    driven   int64 (nr,)           where the row's function of time starts in `functions`, or −1
    springs.index int64 (ns, 6)    `SpringEntry` of each scalar coordinate with an energy: it is term e of `coordinates`
    loads.index   int64 (nl, 6)    `LoadEntry` of each other load
    contacts.index int64 (nk, 3)   `PointEntry` of each point of contact

Without springs, loads or contacts these are None; then nothing of them is compiled and nothing costs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from nexdyn.constraints.tables import ConstraintTables
from nexdyn.forces.contact_data import Friction
from nexdyn.forces.sticking import Slip
from nexdyn.forces.tables import ForceTables
from nexdyn.linalg.plan import Plan
from nexdyn.records import Record, rows_of
from nexdyn.spatial.algebra import Sym3, Vec3

ROWS, HINGE, COUPLED = range(3)
NONE = -1
LINEAR, TABLE, EFFORT, USER, ACTUATED, STOP, CONTROLLED, BRISTLE, REGISTERED = range(9)
ELEMENT, BALL, FLOATING, SURFACE = range(4)


class Central(Record):
    """m, and I about the centre of mass in the body's axes."""

    m: float
    I: Sym3


class Thin(Record):
    """J, e, I_r of ``rod``; 0, 0 and I of a body that is not thin."""

    J: float
    e: Vec3
    rest: Sym3


class Group(Record):
    """Rows of one pair of bodies: kind ROWS (of the constraint tables) or HINGE (the six rows of ``hinge``), pair, first row, rows, bodies,
    place of the block of the two (NONE where one is the ground), whether b is eliminated before a."""

    kind: int
    pair: int
    first: int
    count: int
    body_a: int
    body_b: int
    place: int
    turned: int
    spare: int


class Coupled(Record):
    """One row between several pairs of bodies: its parts, slots and links, the first of them and their number."""

    kind: int
    part: int
    first: int
    count: int
    slot: int
    slots: int
    link: int
    links: int
    parts: int


class Part(Record):
    """A term of a coupled row: its number, slots of its bodies, place of their block, turned."""

    term: int
    slot_a: int
    slot_b: int
    place: int
    turned: int


class Link(Record):
    """Two slots whose bodies share a block, the first of which is its row, and its place."""

    row: int
    column: int
    place: int


class SpringEntry(Record):
    """Law, first datum, bodies, place of their block, turned."""

    law: int
    first: int
    body_a: int
    body_b: int
    place: int
    turned: int


class LoadEntry(Record):
    """Kind, element of `forces`, bodies, place of their block, turned."""

    kind: int
    element: int
    body_a: int
    body_b: int
    place: int
    turned: int


class PointEntry(Record):
    """The spring in the height of a point of contact, in the axes of the plane, or in the distance of centres; where in the springs' data
    its `PointStates` are, −1 of friction that is regularised; 0 of a plane, ±1 of a sphere from outside or in its hollow."""

    spring: int
    state: int
    side: int


class Rubbing(Record):
    """Of a point of contact what sticks (``sticking``), r_A, the velocities of the surfaces of A and B in their axes, ρ, e in either's."""

    friction: Friction
    radius: float
    runs_a: Vec3
    runs_b: Vec3
    ratio: float
    along_a: Vec3
    along_b: Vec3


class Regularised(Record):
    """In place of what sticks: μ, v_f."""

    mu: float
    speed: float


class Holding(Record):
    """Of what sticks √σ, K, μ f_n, the bound of y, d̃ as a part of dt, both components of F without K u, and d̃ w."""

    root: float
    K: float
    most: float
    bound: float
    whole: float
    pull_one: float
    pull_two: float
    angle: float


class PointStates(Record):
    """Of a point that sticks y (axes of the plane's body, or of B's sphere), ỹ, y a step before, whether it slid in that."""

    y: Vec3
    now: Vec3
    before: Vec3
    slid: float


class AreaStates(Record):
    """Of what a surface holds y, ỹ, y a step before, whether it slid in that, and d̃ as a part of dt."""

    y: Slip
    now: Slip
    before: Slip
    slid: float
    whole: float


class Run(Record):
    """μ as a multiple of the masses that rows move; dt of the last step or 0, dt̃ and |C| of it; whether its x − x̂ lay nearer to the
    straight line of the two before than to the last; how many steps up to it were alike (of a start at rest as many as serve, 0 of a step
    with an impact); of a length that grows with ẍ = 1 how far its rate is before ẋ, now and a step before, and what the rate of that is
    (``uneven``)."""

    stiffness: float
    dt: float
    whole: float
    gap: float
    straight: float
    even: float
    ahead: float
    ahead_before: float
    told: float


class Island(Record):
    """Of bodies that only blocks of the Hessian join: by how much x is off, before and after a step of Newton's, |C + J d|, and whether
    their x is found."""

    error_before: float
    error: float
    gap: float
    found: float


class Damper(Record):
    """The head of a spring's data, before those of its law: d, f, v_f, J."""

    damping: float
    friction: float
    speed: float
    armature: float


class Linear(Record):
    """Data of the law LINEAR: k, c₀, f₀."""

    stiffness: float
    rest: float
    force: float


Masses, ThinBodies, Groups, CoupledRows, Parts, Links = (
    rows_of(Central), rows_of(Thin), rows_of(Group), rows_of(Coupled), rows_of(Part), rows_of(Link),
)  # fmt: skip
SpringEntries, LoadEntries, PointEntries, Holdings, Islands = (
    rows_of(SpringEntry), rows_of(LoadEntry), rows_of(PointEntry), rows_of(Holding), rows_of(Island),
)  # fmt: skip
LAW = Damper.columns
"""Where the data of a spring's law begin among its own."""
RUBBING, OF_CONTACT, OF_ONE = Rubbing.columns, PointStates.columns, AreaStates.columns
"""How many numbers a point of contact has, a point that sticks, and what a surface holds."""


class SpringTables(NamedTuple):
    """Springs, frames about the centres of mass; of each the c and its rate, then those of a step before, (ns, 4), what
    angles are near (ns,), and as scratch c, dE/dc, d²E/dc² (ns, 3), derivatives of c for x (ns, 16), c̃ and r̃ (ns, 2).
    own int64 (nz,): where in `data` the states of forces are (``own_states``), −1 of a force that is off. unit (ns,): 1 of an angle, of
    a length that of the mechanism. skin (ns,): of surfaces that are often far from each other, how near they are when the Hessian has to
    have a block of their bodies; 0 of others, of which it always has. acting, watched, slack: which are looked at (``nearby``)."""

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
    skin: Any
    acting: Any
    watched: Any
    slack: Any


class LoadTables(NamedTuple):
    """Loads, frames about the centres of mass; r̃, r and r of a step before (nl, 18); as scratch Q(0) and Q (nl, 12), and their
    differences (24, 6). held int64 (nl,): where in `states`, the data of springs, friction of a surface has its `AreaStates`, and behind
    them those of what resists rolling; −1 of what holds nothing. of_element int64 (nf,): the load of each row of `forces`, or −1; as
    scratch where the bodies are (nb + 1, 12), by which those that may act are chosen (``forces.nearby``)."""

    index: Any
    forces: ForceTables
    of_element: Any
    poses: Any
    rates: Any
    before: Any
    now: Any
    rate: Any
    held: Any
    states: Any


class ContactTables(NamedTuple):
    """Friction of contacts: data (19 nk,) `Rubbing` or `Regularised`; of the last `take_pressure` f_n (nk,), J (2 nk, 16), the part of u by
    surfaces that run (nk, 2) and `Holding` of what sticks (nk, 8), and whether the Hessian is to be careful (1,); as scratch u
    and s, |F| of what sticks (nk, 3). acting int64 (nk + 1,): which are looked at (``nearby``)."""

    index: Any
    acting: Any
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
    repeats: bool
    """Whether rows repeat others."""
    island: Any
    """int64 (nb + 1,) of each body the island, of those that blocks of the Hessian join; −1 of the ground. of_group (ng,): of each group of
    rows."""
    of_group: Any
    angles: Any
    angle_frames: Any
    expected: Any
    """The angles that are counted, see ``constraints.turns``."""


class PotentialState(NamedTuple):
    """What a step changes.

    q (nb + 1, 7): unit quaternion, centre of mass; v, a (nb + 1, 6): (ω, ω̇ in the body's axes, velocity and acceleration of the centre
    in the world); lam (nr,) multipliers [force × dt²]; mu (nr,); run (9,) `Run`; near (nk,) what angles are counted near; of the last
    step moved (nb + 1, 6) the increments, v_before v at its start, off x − x̂; off_before and lam_before of the one before.
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
    islands: Any
    """(ni, 4) of each island an `Island`."""
    still: Any
    """(nb + 1,) 1 of bodies whose x is found, and of the ground."""
    weight: Any
    """(nr,) the μ by which steps are judged, and Δλ."""
    change: Any
    blocks: Any
    scratch: Any
