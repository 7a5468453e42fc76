"""The compiled core of Gapless; arrays are checked by its callers."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def winners(decisions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], classes: int, out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Write the class that wins the votes of each row's pairs of classes."""

def possible_winners(low: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], classes: int, out: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write which classes may win the votes of pairs whose decisions are known to intervals.
    """

def isa() -> str:
    """The instruction set in use."""

def isa_levels() -> list[str]:
    """The instruction sets that this machine has, slowest first."""

def use_isa(level: str) -> None:
    """Use an instruction set from now on; for tests and GAPLESS_ISA."""

def core_count() -> int:
    """The cores that this process may use."""

def thread_count() -> int:
    """The threads that a call may use."""

def limit_threads(most: int) -> None:
    """Bound the threads of each call; 0 lifts the bound."""

def thread_limit() -> int:
    """The bound on the threads of each call; 0 where there is none."""

def limit_threads_here(most: int) -> int:
    """
    Bound the threads of calls from this thread alone; 0 lifts the bound. Returns the bound before.
    """

def pretend_cores(cores: int) -> None:
    """For tests: another count of cores; 0 asks the system again."""

def cgroup_quota(root: str) -> float:
    """
    For tests: the quota of cores that the control groups below a folder state.
    """

def share_calls(pieces: int, call: object) -> None:
    """For tests: call(piece, thread) for each piece, by the pool."""

def share_times(pieces: int, rounds: int, work: float, rest: float) -> list[float]:
    """
    For tests: the seconds of each of some shares of pieces that take `work` seconds, after `rest` seconds without one.
    """

def dual_step(dual: object, i: int, f: float, beta: float, q: float) -> float:
    """
    The β of one sample that maximises the dual along its coordinate, where f = (Kβ)ᵢ and q = Kᵢᵢ.
    """

def dual_called(dual: object, i: int, f: float) -> float:
    """−c ℓ′(y, f): the β that a decision value calls for."""

def dual_slopes(dual: object, i: int, beta: float) -> tuple[float, float]:
    """The derivatives of a sample's dual term as its β rises, and falls."""

def dual_pair(dual: object, i: int, j: int, f_i: float, f_j: float, beta_i: float, beta_j: float, eta: float) -> tuple[float, float]:
    """Both β after the best rise of βᵢ and equal fall of βⱼ."""

class Structure:
    """
    Where the entries of a CSR matrix are: a checked copy, which no code of Python's can change.
    """

    def __init__(self, indices: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, mapped: bool = False) -> None:
        """
        mapped: the indices are those of a file that is mapped into memory, and are not copied.
        """

    def __getstate__(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], int]: ...

    def __setstate__(self, arg: tuple[Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], int], /) -> None: ...

    @property
    def rows(self) -> int: ...

    @property
    def entries(self) -> int: ...

    @property
    def columns(self) -> int: ...

    @property
    def is_canonical(self) -> bool:
        """Whether the indices of each row ascend, none twice."""

    @property
    def is_narrow(self) -> bool:
        """
        Whether indices and places of entries fit into int32, the type that SciPy then has for both.
        """

    @property
    def indices(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """The columns of the entries, as a view that cannot be written to."""

    @property
    def indptr(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """Where each row begins, as a view that cannot be written to."""

    @property
    def narrow_indptr(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)]:
        """The same in int32, empty unless is_narrow."""

class Barrier:
    """
    Mehrotra's predictor–corrector method for a sum of hinges, on a matrix of few columns.
    """

    def __init__(self, A: object, box: object, factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rho: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], constant: float, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: float) -> None: ...

    def iterate(self) -> None:
        """One predictor and one corrector step."""

    def beta(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Σ σα over a sample's halves."""

    @property
    def A(self) -> object: ...

    @property
    def gap(self) -> float: ...

    @property
    def value(self) -> float: ...

    @property
    def constant(self) -> float: ...

    @property
    def mu(self) -> float: ...

    @property
    def stuck(self) -> bool: ...

    @property
    def g(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def w(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def f(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def alpha(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def surplus(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def slack(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

def fenchel_gap(box: object, f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """Σ φ(f) − β(p − f) + ε|β| + ½dβ²: P − D where w is β's own."""

def kink_pieces(box: object, f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gamma: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], piece: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    2: at upper; 1: at the kink p − ε; 0: β = 0; −1: at the kink p + ε; −2: at lower. Writes piece.
    """

def loss_slope(box: object, f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], df: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], t: float) -> float:
    """The derivative of Σ φ(f + t df) by t."""

def wrong_side(box: object, f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], wrong: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Whose β does not maximise β(p − f) − ε|β|; writes wrong."""

def survey_kinks(box: object, f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], distance: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    How far each decision is from a kink; writes distance, and β, the bound or zero on whose side it lies.
    """

def ascend_blocks(rows: object, codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], curvature: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: float, entries: float, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], position: int, budget: float, whole: bool, beta: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], moved: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, float, float, float]:
    """
    Maximise the dual over the block of each sample of order from position on, until budget entries are met; writes beta, W, b and moved, returns (the next position, entries met, with whole an estimate of the part of the gap that the blocks have, by how much the dual has risen).
    """

def ascend_again(rows: object, codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], curvature: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: float, entries: float, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], position: int, gain: float, passes: int, enough: float, most: int, budget: float, seed: int, beta: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], W: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], moved: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, float, int, float, bool]:
    """
    Go on with passes over the samples of order, which is shuffled, and the classes whose beta is not zero there, until budget entries are met, a pass gains at most enough, or most passes have ended; writes beta, W, b and moved, returns (the place in order, the present pass's gain, the passes that have ended, entries met, whether the passes have ended).
    """

def descend_l1(columns: object, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], position: int, budget: float, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], shortfall: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, float, float, bool]:
    """
    One step for each weight of order from position on, until budget entries are read; writes w and shortfall, returns (the next position, entries read, the largest violation met, whether a weight moved).
    """

def newton_l1(columns: object, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], shortfall: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """
    A Newton step on all weights that are not zero, with an exact line search; writes w and shortfall, and tells whether it gained anything.
    """

class Piecewise:
    """
    A linear problem's objective, quadratic between kinks, at a model that Newton steps move.
    """

    def __init__(self, rows: object, d: int, ones: bool, sparse: bool, box: object, rho: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: float, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

    def round(self, width: float, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None:
        """Round the loss off by a width around a centre, or not at all for zero."""

    def newton(self, single: bool = False) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Newton's direction, by a factorisation; single: sums of float32 rows may be float32.
        """

    def descend(self, single: bool = False) -> tuple[float, float]:
        """
        Move along Newton's direction; tells −⟨∇, dw⟩ and how far, which is zero where the objective does not fall.
        """

    def conjugate(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
        """
        Newton's direction, by conjugate gradients, and how many rows were multiplied for it.
        """

    def step(self, dw: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """Move along dw to almost the least value; tells how far."""

    def falls(self, dw: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """−⟨∇, dw⟩."""

    def hessian(self, single: bool = False) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Σ aaᵀ/d over the samples inside a quadratic piece, row after row."""

    @property
    def w(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def f(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def beta(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def slope(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def inside_count(self) -> int: ...

    @property
    def value(self) -> float: ...

    @property
    def lacking(self) -> float: ...

    @property
    def moved(self) -> float: ...

    @property
    def residual(self) -> float: ...

    @property
    def free_slope(self) -> float: ...

class Factored:
    """
    (H + diag ρ) x = r, factored; a singular H gets the least ridge that helps.
    """

    def __init__(self, H: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rho: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def solve(self, r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

def weighted_gram(rows: object, d: int, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ones: bool, single: bool, sparse: bool, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> None:
    """Σ weight · aaᵀ over the chosen rows, a = x or (x, 1); writes out."""

def any_bounded(lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool:
    """Whether some sample that counts has a β with a bound beside zero."""

def gather_rows(rows: object, d: int, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> None:
    """
    Some rows as a dense matrix, a one after each where it has a column for that; writes out.
    """

def leverage(rows: object, d: int, step: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Σⱼ xᵢⱼ²/Σₖ xₖⱼ² of each row, at most one, the sums over every so many rows; writes out.
    """

class Panels:
    """
    A kernel of given samples, by tiles; gapless.kernels.Panels is its public face.
    """

    def __init__(self, spec: object, X: object, rows: object, d: int, chosen: object | None, single: bool) -> None: ...

    @property
    def n(self) -> int: ...

    @property
    def is_single(self) -> bool: ...

    @property
    def is_costly(self) -> bool: ...

    @property
    def has_bounds(self) -> bool: ...

    @property
    def entries(self) -> float: ...

    def expand(self, left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def expand_all(self, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def expand_to(self, left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], to: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def own(self, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def apply(self, Z: object, rows: object, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> None: ...

    def apply_bounded(self, Z: object, rows: object, chosen: object | None, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> None: ...

    @overload
    def extend(self, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], known: int, shift: float, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu')]) -> None: ...

    @overload
    def extend(self, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], known: int, shift: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> None: ...

    @overload
    def rows(self, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu')]) -> None: ...

    @overload
    def rows(self, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> None: ...

    @overload
    def cross(self, Z: object, rows: object, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu')]) -> None: ...

    @overload
    def cross(self, Z: object, rows: object, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> None: ...

class Sdca:
    """
    Epochs of dual coordinate ascent that keep w up to date; β = 0 to begin with.
    """

    def __init__(self, rows: object, d: int, dual: object, curvature: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, shift: float, free_intercept: bool, uniform: bool, shrinks: bool, halved_from: float, seed: int, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def resume(self, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, separable: float) -> None:
        """
        Go on from β with w = Σ βᵢxᵢ, from b where it is free, and from Σ hᵢ(βᵢ).
        """

    def step(self, visits: int, target: float) -> int:
        """
        Make at most so many visits, and return how many; stops after an epoch over all rows whose gap is at most target · P.
        """

    @property
    def ready(self) -> bool:
        """Whether the last step ended at its target."""

    @property
    def active(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The rows that are not left out at present, as a copy."""

    @property
    def gap(self) -> float:
        """The last epoch's own reckoning of the gap."""

    @property
    def dual_value(self) -> float:
        """D, by adding up what the steps gain."""

    @property
    def offset(self) -> float:
        """s² Σβ; of a free intercept its present multiplier."""

    @property
    def w(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Σ βᵢxᵢ, as a copy."""

    @property
    def beta(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The dual variables, as a copy."""

class Random:
    """A generator that every machine repeats from its seed (xorshift64*)."""

    def __init__(self, seed: int) -> None: ...

    def shuffle(self, indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Put indices into a random order; writes indices."""

    def draw(self, indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Fill n indices by uniform draws from 0 to n − 1, with replacement; writes indices.
        """

def ascend_coordinates(dual: object, K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], piece: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Maximise the dual along each coordinate of piece, with f = Kβ kept up to date; writes beta and f.
    """

def project_gradient_step(dual: object, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], L: float, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    The best step from z with f = Kz, where curvature L stands in for K; writes beta.
    """

def walk_pegasos(rows: object, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: float, piece: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], theta_b: float, t: float, harmonic: float, theta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], errors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], weighted: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float, float]:
    """
    One step of Pegasos for each sample of piece; writes theta, errors and weighted, returns (θ_b, t, H).
    """

def walk_perceptron(order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], position: int, signs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], slot_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], admitted: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], seen: int, beta: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')], delayed: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')], F: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> tuple[int, int, list[tuple]]:
    """
    The kernel perceptron along order, up to a sample whose mistake needs a row of K that is not there; writes beta, delayed and F (a row a function), returns (position, samples seen, mistakes as (sample, function, sign, time)).
    """

def descend_sgd(rows: object, dual: object, piece: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], reach: float, penalty: float, scale: float, b: float, sum_scale: float, sum_b: float, v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], u: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float, float, float, int]:
    """
    One step of stochastic sub-gradient descent for each sample of piece, with its η from steps; writes v, u and q, returns (a, b, Σa, Σb, steps made).
    """

def matvec(rows: object, d: int, w: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> None:
    """Writes X w into out; w may have several columns."""

def rmatvec(rows: object, d: int, beta: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> None:
    """Writes Xᵀ β into out; β may have several columns."""

def squared_norms(rows: object, n: int, step: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Writes ‖x‖² of every so many of the first n rows."""

def distinct_samples(rows: object, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], which: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    The first sample of each kind; writes for each sample its kind's place among them.
    """

def proof_feasible(lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupled: bool, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, float]:
    """
    (a feasible β, how far the given β was from its box, how far its sums, after clipping, were from their totals).
    """

def proof_best_multiple(box: object, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], square: float) -> tuple[float, float]:
    """(s, D(sβ)) for the best s that stays in the box, where square is βᵀKβ."""

def proof_bounds(dual: object, groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], free: bool, multiple: bool, primal: bool, plain: bool, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sizes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: float, weights: tuple[float, float, float, float], shift: float) -> tuple[float, float, float, float, float, tuple[tuple[float, float], ...], float, float, float, float, float, float, tuple[tuple[float, float], ...]]:
    """
    (βᵀKβ, s, D(sβ), largest KKT violation, P, intervals of the best offsets, the parts of D and of P that were added for rounding) at the best multiple sβ of a feasible β, which is written to beta and f; then, at β itself, D and P as computed, a number that D is not below, one that P is not above, and the intervals. f is off by at most factor · sizes. weights are (‖w‖², its error, the error of βᵀKβ, largest √k).
    """

def proof_best_offsets(dual: object, groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[tuple[float, float], ...]:
    """
    The interval of best offsets of each group, for decision values f that have none added.
    """

def proof_loss_bounds(dual: object, groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: float) -> tuple[float, float, float]:
    """
    (a number that Σ c ℓ(y, f + the group's offset) is not above where f is off by at most factor · sizes, the part of it that was added for these errors, the sum as computed).
    """

def proof_losses_at(dual: object, groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """Σ c ℓ(y, f + the group's offset), as computed."""

def proof_expansion_errors(beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], u: float, terms: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Bounds on the errors of Kβ as computed."""

def proof_sum(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], above: bool) -> float:
    """A number that the exact sum is below (or, unless `above`, above)."""

def proof_losses(dual: object, f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """c ℓ(y, f) of each sample."""

def twofold_expansion(formula: object, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """out[:, i] = Σ c k(xᵢ, x) over the chosen samples."""

def twofold_weights(rows: object, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], sizes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """w = Σ βᵢxᵢ, and Σ |βᵢxᵢ|."""

def twofold_products(rows: object, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], sizes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """out = Xw, and |X| |w|."""

def twofold_dot(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> tuple[float, float]:
    """⟨a, b⟩ of two vectors, each as two rows."""

def twofold_dual(dual: object, groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], free: bool, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], error: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], square: tuple[float, float], square_error: float, shift: float, largest: float) -> tuple[float, float]:
    """(D(β), a number that it is not below)."""

def twofold_offsets(dual: object, groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> list[tuple[float, float]]:
    """Replace good offsets by the best ones; returns their intervals."""

def twofold_primal(dual: object, groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], error: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], square: tuple[float, float], square_error: float, shift: float) -> tuple[float, float]:
    """(P, a number that it is not above)."""

def twofold_margin(y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], free: bool, b: float, f: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], error: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, float]:
    """
    (b, a number that the smallest margin is not below); a free b is the one in the middle.
    """

def twofold_room(dual: object, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: float, f: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], error: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """
    By how much every sample is at least inside its tube; negative where one is outside.
    """

class Smo:
    """
    The rounds of SMO on one problem; gapless.solvers.SMO is its public face.
    """

    def __init__(self, entries: object, error: float, exact: object, dual: object, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupled: bool, hard: bool, shift: float, zero: float, entry_work: float, second_order: bool, cache_bytes: float, f: object | None = None) -> None: ...

    def step(self, work: float, iterations: float, gap_target: float, kkt_target: float) -> tuple[float, float, int]:
        """(pairs, work, 0 for running, 1 for ready or 2 for stalled)"""

    def beta(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """A copy of β."""

    def f(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """A copy of f = Kβ + shift Σβ as it is kept."""

    @property
    def reach(self) -> int:
        """How many of the samples take part so far."""

    @property
    def active(self) -> int:
        """How many are in the active set."""

    @property
    def active_room(self) -> int:
        """How many it has room for."""

    @property
    def fits_in_full(self) -> bool:
        """
        Whether an active set in float64 has room for all free support vectors.
        """

    @property
    def keeps_rows(self) -> bool:
        """Whether kernel rows are kept."""

    @property
    def finishes(self) -> int:
        """Rounds in which Newton's method moved something."""

SMO_WHOLE: int = 2048

@overload
def smo_pairs(dual: object, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], K: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupled: bool, second_order: bool, target: float, max_steps: int, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

@overload
def smo_pairs(dual: object, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupled: bool, second_order: bool, target: float, max_steps: int, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    SMO on one block, whose groups are side by side; writes beta and f, and returns the steps taken.
    """

@overload
def smo_blocks(dual: object, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], K: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_groups: int, coupled: bool, second_order: bool, size: int, target: float, share: float, max_steps: int, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

@overload
def smo_blocks(dual: object, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_groups: int, coupled: bool, second_order: bool, size: int, target: float, share: float, max_steps: int, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    SMO by blocks of at most `size`; writes beta and f, and returns the steps taken.
    """

@overload
def smo_face(dual: object, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], K: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_groups: int, coupled: bool, target: float, most: int, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int: ...

@overload
def smo_face(dual: object, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_groups: int, coupled: bool, target: float, most: int, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Newton's method on the face that β is on; returns how often a variable moved.
    """

def smo_walk(dual: object, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupled: bool, target: float, most_work: float, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, float]:
    """
    The walk over faces from β; writes beta and f, and returns (0 for reached, 1 for tired or 2 for lost, its work).
    """

def smo_own_gap(dual: object, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupled: bool, offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float]:
    """(P − D, P) that f suggests; writes the best offsets."""

def smo_survey(dual: object, diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_groups: int, coupled: bool, up: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], down: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float]:
    """(rounding noise of f, largest violation); writes both ends."""

def work_side_by_side(more: int) -> None:
    """
    So many more solvers (fewer where it is negative) work side by side from now on.
    """

def smo_entrants(up: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], down: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], coupled: bool, share: float, inside: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """The worst violators that are not inside."""

def smo_nearest(scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """The places of the largest scores, in order."""

class EveryPair:
    """
    One-vs-one on a Gram matrix or on panels: each pair of classes solved and proven; native/smo/every_pair.hpp.
    """

    @overload
    def __init__(self, K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], firsts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], halves: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    @overload
    def __init__(self, panels: object, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], firsts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], halves: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def begin_at(self, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Where the pairs begin, of the hinge loss: at the feasible point that is nearest to beta, whose sums are f, NaN where they are not known.
        """

    def run(self, *, gap: float, kkt: float, ahead: float, stricter: float, turns: float, most: float, seconds: float, cache_bytes: float) -> None:
        """
        Solve and prove each pair; after an interruption the pairs that were done are known.
        """

    @property
    def done(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        1 for a pair whose proof keeps the bounds, 2 where its optimum is proven to be zero, 0 where it is left to do.
        """

    @property
    def beta(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The coefficients of the proven models, pair after pair."""

    @property
    def f(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Their sums Kβ; NaN of pairs that are left to do."""

    @property
    def low(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Where the intervals of the best offsets begin."""

    @property
    def high(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Where they end."""

    @property
    def steps(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The steps of the engine."""

    @property
    def checked(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The seconds up to the end of the proof."""

    @property
    def seconds(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The seconds that the pair took."""

    @property
    def primal(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """A number that the optimum is not above."""

    @property
    def dual(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """A number that the optimum is not below."""

    @property
    def rounding(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The part of primal − dual that was added for rounding."""

    @property
    def violation(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The largest KKT violation."""

    @property
    def outside(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """How far the engine's β was from its box."""

    @property
    def off(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """How far its sums were from their totals."""

    @property
    def plain_primal(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """P at the engine's own point, as computed."""

    @property
    def plain_dual(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """D at the engine's own point, as computed."""

    @property
    def own(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """1 where w is that of the dual point, 0 where it was stretched."""

def squared_distances(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Write all squared distances of the rows of X."""

def gaussian(distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gamma: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write exp(−γ d) for each of the squared distances d; out may be the distances.
    """

class SharedFits:
    """
    Many problems on one table of kernel entries; native/smo/shared_fits.hpp.
    """

    def __init__(self, K: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], margins: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], epsilon: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], same: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, room: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')] | None = None) -> None: ...

    @staticmethod
    def room_for(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """
        The numbers in float32 of the memory `room` of families that begin there.
        """

    def advance(self, C: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gap: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, kkt: float, ahead: float, stricter: float, turns: float) -> None:
        """Solve and prove the problems of the members whose C is positive."""

    def go_ahead(self, C: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], gap: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, last: int, *, kkt: float, ahead: float, stricter: float, turns: float) -> None:
        """
        Solve and prove the problems of the families from first to last, of one row of C after the other, and put them aside.
        """

    def take_up(self, turn: int, C: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gap: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Take up what was put aside of a row of C."""

    def tighten(self, gap: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, kkt: float, ahead: float, stricter: float, turns: float) -> None:
        """
        Go on with the problems whose gap is positive, until apart is that share of P.
        """

    def beta(self, member: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Write β of a member, family after family."""

    def values(self, member: int, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], families: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], flip: bool, f: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], low: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], high: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], longest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Write the decision values of a member at some rows, in the columns of some families.
        """

    @property
    def done(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        1 for a problem whose proof keeps the bounds, 0 where it is left to do.
        """

    @property
    def kept(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """1 where everything is as it was at the C before."""

    @property
    def low(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Where the intervals of the best offsets begin."""

    @property
    def high(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Where they end."""

    @property
    def steps(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The steps of the engine."""

    @property
    def seconds(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The seconds that the problem took."""

    @property
    def checked(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The seconds up to the end of the proof."""

    @property
    def primal(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """A number that the optimum is not above."""

    @property
    def dual(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """A number that the optimum is not below."""

    @property
    def rounding(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The part of primal − dual that was added for rounding."""

    @property
    def apart(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """A bound on the squared distance of w from the optimum's."""

    @property
    def apart_rounding(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The part of it that was added for rounding."""

    @property
    def violation(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The largest KKT violation."""

    @property
    def outside(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """How far the engine's β was from its box."""

    @property
    def off(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """How far its sums were from their totals."""

    @property
    def plain_primal(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """P at the engine's own point, as computed."""

    @property
    def plain_dual(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """D at the engine's own point, as computed."""

    @property
    def own(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """1 where w is that of the dual point, 0 where it was stretched."""
