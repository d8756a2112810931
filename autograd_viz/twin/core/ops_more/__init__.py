"""Rare ops. The first use of a name below loads all files of this folder."""

import importlib
import pkgutil

NAMES = {  # by namespace, as `public` names them in the files
    "torch": """
        _segment_reduce _upsample_bilinear2d_aa alias_copy as_strided_copy bincount bucketize cdist channel_shuffle cholesky
        cholesky_inverse cholesky_solve corrcoef cov cumulative_trapezoid det diagonal_copy diagonal_scatter diff
        embedding_bag expand_copy geqrf gradient grid_sampler grid_sampler_2d grid_sampler_3d histc histogram i0 igamma
        igammac index_reduce inverse istft logdet lu lu_solve lu_unpack matrix_exp matrix_power nanquantile orgqr ormqr
        pca_lowrank pdist permute_copy pinverse pixel_shuffle pixel_unshuffle qr quantile scatter_reduce searchsorted
        segment_reduce select_copy select_scatter slice_copy slice_scatter slogdet split_copy split_with_sizes_copy
        squeeze_copy stft svd svd_lowrank t_copy transpose_copy trapezoid trapz triangular_solve unbind_copy unfold_copy
        unique unique_consecutive unsqueeze_copy view_copy
    """,
    "Tensor": """
        bincount cholesky cholesky_inverse cholesky_solve corrcoef cov det diagonal_scatter diff histc histogram i0 i0_ igamma
        igamma_ igammac igammac_ index_reduce index_reduce_ inverse istft logdet lu lu_solve matrix_exp matrix_power
        nanquantile orgqr ormqr pinverse qr quantile scatter_reduce scatter_reduce_ select_scatter slice_scatter slogdet stft
        svd triangular_solve unique unique_consecutive
    """,
    "special": """
        airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 gammainc gammaincc i0 i0e i1 i1e modified_bessel_i0 modified_bessel_i1
        modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0 zeta
    """,
    "nn.functional": """
        affine_grid channel_shuffle cosine_embedding_loss ctc_loss embedding_bag fold fractional_max_pool2d
        fractional_max_pool2d_with_indices fractional_max_pool3d fractional_max_pool3d_with_indices gaussian_nll_loss
        grid_sample hinge_embedding_loss interpolate kl_div linear_cross_entropy local_response_norm lp_pool1d lp_pool2d
        lp_pool3d margin_ranking_loss max_unpool1d max_unpool2d max_unpool3d multi_margin_loss multilabel_margin_loss
        multilabel_soft_margin_loss pdist pixel_shuffle pixel_unshuffle poisson_nll_loss triplet_margin_loss
        triplet_margin_with_distance_loss unfold upsample upsample_bilinear upsample_nearest
    """,
    "linalg": """
        cholesky cholesky_ex cond det eig eigh eigvals eigvalsh householder_product inv inv_ex lstsq lu lu_factor lu_factor_ex
        lu_solve matrix_exp matrix_norm matrix_power matrix_rank pinv qr slogdet solve solve_ex solve_triangular svd svdvals
        tensorinv tensorsolve vander
    """,
    "fft": """
        fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft irfft2 irfftn
        rfft rfft2 rfftfreq rfftn
    """,
    "masked": """
        amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm normalize prod softmax softmin
        std sum var
    """,
}


def load() -> None:
    """Load every file of this folder."""
    for file in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{file.name}")
