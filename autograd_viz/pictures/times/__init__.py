"""Where a pass spends its time: tables, a map, a file for speedscope."""
