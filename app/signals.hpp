// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

namespace curlew {

/// From here on SIGUSR1 asks for a checkpoint instead of ending the process. A write beyond a limit on the
/// size of files (ulimit -f) fails as on a full disk, and what is told to a reader that has gone is lost:
/// neither ends the process.
void outlive_signals();

/// From here on SIGINT (Ctrl-C) and SIGTERM ask for a stop instead of ending the process, each unless it
/// is ignored. A second SIGINT ends it at once.
void stop_on_signals();

/// The exit status if a stop has been asked for, by the first such signal: 130 (SIGINT) or 143 (SIGTERM);
/// else 0.
int stop_requested();

/// Whether a checkpoint has been asked for since the last call.
bool take_checkpoint_request();

}  // namespace curlew
