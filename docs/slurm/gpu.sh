#!/usr/bin/env bash
# Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#
# A run on 2 nodes with 4 GPUs each, one rank per GPU:
#   sbatch docs/slurm/gpu.sh CASE.toml OUTPUT
# cpu.sh shows how to go on in further jobs.
#SBATCH --job-name=curlew
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --time=12:00:00
set -euo pipefail

case=$1 output=$2
curlew=${CURLEW:-$HOME/curlew/build/app/curlew}

# Each rank takes the GPU of its number on the node. What is done on the host takes the cores of the task. A steady heat
# case, which has no steps, goes without wall_limit.
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun --mpi=pmix "$curlew" run "$case" --output "$output" --backend cuda --set time.wall_limit=42000
