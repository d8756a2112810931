"""Why a gradient is what it is. Look-ups ask `History`: which ops, passes and writes there were. Value rules ask `Facts`."""
