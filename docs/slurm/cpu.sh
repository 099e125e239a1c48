#!/usr/bin/env bash
# Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#
# A run on 4 CPU nodes, one rank per core, in jobs of 12 hours that go on where the one before stopped:
#   sbatch docs/slurm/cpu.sh CASE.toml OUTPUT
#SBATCH --job-name=curlew
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=64
#SBATCH --cpus-per-task=1
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

case=$1 output=$2
curlew=${CURLEW:-$HOME/curlew/build/app/curlew}

# From the last checkpoint of an earlier job that has no damage; a kill never leaves half of one.
restart=()
! compgen -G "$output/checkpoint_*.h5" >/dev/null || restart=(--restart "$output")

# Ends 20 minutes before the job would, with a checkpoint; make it more where a step takes long. A steady heat case, which
# has no steps, goes without.
srun --mpi=pmix "$curlew" run "$case" --output "$output" --set time.wall_limit=42000 "${restart[@]}"

# A run that stopped for another reason than its time, such as max_steps of a steady one, would end so again.
if grep -q '"status": "stopped"' "$output/summary.json" && ! grep -q '"reason":' "$output/summary.json"; then
  scontrol requeue "$SLURM_JOB_ID"
fi
