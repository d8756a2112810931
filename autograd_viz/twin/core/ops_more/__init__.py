"""Rare ops. The first use of a name below loads all files of this folder."""

import importlib
import pkgutil

NAMES = {  # by namespace, as `public` names them in the files
    "torch": """
        bincount bucketize cdist cholesky cholesky_inverse cholesky_solve corrcoef cov det diff
        histc histogram inverse istft logdet matrix_exp matrix_power nanquantile pdist pinverse pixel_shuffle pixel_unshuffle qr
        quantile scatter_reduce searchsorted slogdet stft svd triangular_solve unique unique_consecutive
    """,
    "Tensor": """
        bincount cholesky cholesky_inverse cholesky_solve corrcoef cov det diff histc histogram inverse istft logdet matrix_exp
        matrix_power nanquantile pinverse qr quantile scatter_reduce scatter_reduce_ slogdet stft svd triangular_solve unique
        unique_consecutive
    """,
    "nn.functional": """
        affine_grid cosine_embedding_loss ctc_loss embedding_bag fold gaussian_nll_loss grid_sample hinge_embedding_loss
        interpolate kl_div local_response_norm margin_ranking_loss max_unpool1d max_unpool2d max_unpool3d multi_margin_loss
        multilabel_soft_margin_loss pdist pixel_shuffle pixel_unshuffle poisson_nll_loss triplet_margin_loss
        triplet_margin_with_distance_loss unfold upsample
    """,
    "linalg": """
        cholesky cholesky_ex cond det eig eigh eigvals eigvalsh inv lstsq lu matrix_exp matrix_norm matrix_power matrix_rank
        pinv qr slogdet solve solve_triangular svd svdvals vander
    """,
    "fft": """
        fft fft2 fftfreq fftn fftshift ifft ifft2 ifftn ifftshift irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn
    """,
}


def load() -> None:
    """Load every file of this folder."""
    for file in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{file.name}")
