// Callbacks of signals that live long and have many of them at a time: an EventTarget searches a list to add or to remove one.

const callbacks = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `run`, which must not throw, once when the signal aborts; not for one that is aborted already.
 * @param run not added to the signal before
 * @returns removes it
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const runs = callbacks.get(signal) ?? listen(signal)
  runs.add(run)
  return () => runs.delete(run)
}

function listen(signal: AbortSignal): Set<() => void> {
  const runs = new Set<() => void>()
  callbacks.set(signal, runs)
  const runAll = () => {
    for (const run of runs) {
      runs.delete(run)
      run()
    }
  }
  signal.addEventListener('abort', runAll, { once: true })
  return runs
}
