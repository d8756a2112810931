"""中文：一个任务的所有进程（rank）。"""

JOB_FINE = "{ranks} 个 rank：都到达同样的 {count} 个参数，权重相同。没有哪个本地梯度是 nan，也没有与其他 rank 相差很大的。"
JOB_UNREACHED = (
    "rank {rank} 没有到达 {names}，其他 rank 到达了。backward() 会一直等待：给 DistributedDataParallel 传 "
    "find_unused_parameters=True，或者让每个 rank 都用到这些参数。"
)
JOB_NOBODY = (
    "没有 rank 到达 {names}。DistributedDataParallel 的下一次前向会报错：传 find_unused_parameters=True，或者不训练它们。"
)
JOB_UNUSED = "rank {rank} 没有到达 {names}；由于 find_unused_parameters=True，它的梯度按零计算。"
JOB_BAD_SEVERAL = "rank {ranks} 上 {names} 的梯度里有 nan 或 inf。"
JOB_BAD = "只有 rank {ranks} 在 {names} 的梯度里有 nan 或 inf；求平均会把它传给所有 rank。"
JOB_WEIGHTS = "{names} 的权重在各 rank 上不一致：rank {ranks} 与 rank 0 不同。"
JOB_COLLECTIVES = "rank {rank} 的通信顺序与 rank 0 不同：{mine}；rank 0：{first}。"
JOB_PARTS = "{ranks} 个 rank，各有自己的部分：共 {count} 个参数。没有梯度是 nan。"
JOB_ABSENT = "rank {rank} 没有 {names} 的梯度，其他 rank 有。"
JOB_NONE = "无"
JOB_FAR = "rank {rank} 上 {name} 的梯度范数是 {norm}；其他 rank 最多 {rest}。"
JOB_TITLE = "gather：{ranks} 个 rank"
JOB_COLUMNS = "本地梯度：各 rank 的最小 … 最大。右边：所有 rank 得到的平均值。"
JOB_PARAMETERS = "参数"
JOB_BUCKETS = "DistributedDataParallel 的分桶"
JOB_BUCKET = "{place} · 在 {count} 个梯度中的第 {ready} 个之后就绪"
JOB_REDUCE = "all-reduce：{ranks} 个 rank 的平均"
JOB_ONLY = "在 rank {ranks} 上"
JOB_MISSING = "rank {ranks} 上没有"
JOB_RANK = "rank {rank}"
