"""Compute on a GPU: attention kernels, and CUDA graphs of the passes of training."""
