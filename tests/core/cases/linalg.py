from __future__ import annotations

from typing import Any

import numpy as np

from . import Cases, array


def well(*shape: int) -> Any:
    """Matrices that are far from singular, with distinct singular values."""
    n, m = shape[-2:]
    return array(*shape) / 4 + np.eye(n, m) * (2 + np.arange(m))


def lower(*shape: int) -> Any:
    return np.tril(well(*shape))


ALPHA_BETA = {"beta": 0.5, "alpha": 2}

CASES: Cases = {
    "mm": [([array(2, 3), array(3, 2)], {})],
    "mv": [([array(2, 3), array(3)], {})],
    "dot": [([array(3), array(3)], {})],
    "ger": [([array(2), array(3)], {})],
    "bmm": [([array(2, 2, 3), array(2, 3, 2)], {})],
    "addmm": [([array(2, 2), array(2, 3), array(3, 2)], ALPHA_BETA), ([array(2), array(2, 3), array(3, 2)], {})],
    "addmv": [([array(2), array(2, 3), array(3)], ALPHA_BETA)],
    "addr": [([array(2, 3), array(2), array(3)], ALPHA_BETA)],
    "baddbmm": [([array(2, 2, 2), array(2, 2, 3), array(2, 3, 2)], ALPHA_BETA)],
    "addbmm": [([array(2, 2), array(2, 2, 3), array(2, 3, 2)], ALPHA_BETA)],
    "vdot": [([array(3), array(3)], {})],
    "linalg_cross": [([array(2, 3), array(2, 3)], {}), ([array(3, 2), array(3, 1)], {"dim": 0})],
    "trilinear": [
        (
            [array(2, 3), array(2, 3, 2), array(2, 2)],
            {"expand1": (1, 3), "expand2": (0,), "expand3": (1, 2), "sumdim": (2, 3)},
        )
    ],
    "cdist_forward": [([array(3, 2), array(2, 2) * 1.7], {"p": p}) for p in (0.0, 1.0, 1.5, 2.0, 3.0, float("inf"))]
    + [([array(2, 2, 2), array(1, 3, 2) * 1.7], {"p": 2.0})],
    "euclidean_dist": [([array(3, 2), array(2, 2) * 1.7], {})],
    "pdist_forward": [([array(3, 2)], {"p": p}) for p in (1.0, 2.0, 3.0)],
    "linalg_solve_triangular": [
        ([well(2, 2), array(2, 3)], {"upper": True}),
        ([well(2, 2), array(3, 2)], {"upper": False, "left": False}),
        ([well(2, 2, 2), array(2, 3)], {"upper": False, "unitriangular": True}),
    ],
    "triangular_solve_tensors": [
        ([array(2, 3), well(2, 2)], {"upper": True, "transpose": t, "unitriangular": u})
        for t, u in ((False, False), (True, False), (False, True))
    ],
    "cholesky_solve_tensors": [([array(2, 2), lower(2, 2)], {}), ([array(2, 2), lower(2, 2).T], {"upper": True})],
    "cholesky_inverse_tensor": [([lower(2, 2)], {}), ([lower(2, 2).T], {"upper": True})],
    "linalg_lu": [([well(3, 3)], {}), ([array(3, 2)], {}), ([array(2, 3)], {})],
    "linalg_inv_ex": [([well(2, 2)], {}), ([well(2, 2, 2)], {})],
    "cofactors": [([well(2, 2)], {})],
    "matrix_exp": [([array(2, 2)], {}), ([array(2, 2, 2)], {})],
    "qr_tensor": [([well(3, 2)], {}), ([well(2, 2)], {}), ([well(2, 3)], {}), ([well(2, 3)], {"mode": "complete"})],
    "svd_tensor": [([well(3, 2)], {}), ([well(2, 2)], {}), ([well(2, 3)], {})],
    "pinv_tensor": [([well(3, 2)], {}), ([well(2, 3)], {}), ([well(2, 2)], {})],
    "lstsq_tensors": [
        ([well(3, 2), array(3, 2)], {}),
        ([well(2, 3), array(2, 2)], {}),
    ],
    # tried by their public names in test_linalg.py: results without a gradient, symmetric matrices, complex results
    "conj": [([array(2)], {})],
}
WITHOUT = {
    "linalg_solve_ex": "tests/core/test_linalg.py checks both orders through linalg.solve",
    "det_tensor": "tests/core/test_linalg.py checks both orders through linalg.det",
    "slogdet_tensor": "tests/core/test_linalg.py checks both orders through linalg.slogdet",
    "cholesky_tensor": "wants symmetric positive input: tests/core/test_linalg.py checks both orders",
    "linalg_cholesky_ex": "wants symmetric positive input: tests/core/test_linalg.py checks both orders",
    "eigh_tensor": "wants symmetric input: tests/core/test_linalg.py checks both orders",
    "eig_tensor": "complex: tests/core/test_linalg.py checks the first order",
}
