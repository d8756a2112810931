"""English: all ranks of a job."""

JOB_FINE = (
    "{ranks} ranks: each reaches the same {count} parameters, with the same weights. No local gradient is nan, "
    "or far from those of other ranks."
)
JOB_UNREACHED = (
    "Rank {rank} does not reach {names}, and other ranks do. backward() would wait for it for ever: give "
    "DistributedDataParallel find_unused_parameters=True, or use these parameters on every rank."
)
JOB_NOBODY = (
    "No rank reaches {names}. The next forward pass of DistributedDataParallel would raise an error: give it "
    "find_unused_parameters=True, or do not train them."
)
JOB_UNUSED = "Rank {rank} does not reach {names}; with find_unused_parameters=True its gradient counts as zero."
JOB_BAD_SEVERAL = "Nan or inf is in the gradient of {names} on rank {ranks}."
JOB_BAD = "Rank {ranks} alone has nan or inf in the gradient of {names}; the mean hands it to every rank."
JOB_WEIGHTS = "The weights of {names} are not the same on all ranks: rank {ranks} differs from rank 0."
JOB_COLLECTIVES = "Rank {rank} communicates in another order than rank 0: {mine}; rank 0: {first}."
JOB_PARTS = "{ranks} ranks, each with a part of its own: {count} parameters in all. No gradient is nan."
JOB_ABSENT = "Rank {rank} has no gradient of {names}; other ranks have."
JOB_NONE = "nothing"
JOB_FAR = "Rank {rank} has a gradient of {name} with norm {norm}; the others have {rest} at most."
JOB_TITLE = "gather: {ranks} ranks"
JOB_COLUMNS = "Local gradients: least … most over the ranks. Right: the mean, as all ranks get it."
JOB_PARAMETERS = "Parameters"
JOB_BUCKETS = "Buckets of DistributedDataParallel"
JOB_BUCKET = "{place} · ready after {ready} of {count} gradients"
JOB_REDUCE = "all-reduce: mean of {ranks} ranks"
JOB_ONLY = "on rank {ranks}"
JOB_MISSING = "not on rank {ranks}"
JOB_RANK = "rank {rank}"
