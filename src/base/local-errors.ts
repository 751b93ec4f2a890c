// Tells faults of this program and machine from failures of the network and of other servers.

/** Of the machine: no file handle, buffer or memory is left. */
const MACHINE = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])
/** Of a call that undici refuses, and of a module that cannot be loaded. */
const CALL = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'ERR_MODULE_NOT_FOUND'])
const TYPES = [TypeError, ReferenceError, RangeError, SyntaxError]

/**
 * Whether a request failed in this process before anything was sent. Errors of sockets, TLS and DNS have a code and the plain type `Error`.
 */
export function isLocalError(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  // A host that another server or a person named.
  if (code === 'ERR_INVALID_URL') return false
  return MACHINE.has(code) || CALL.has(code) || TYPES.some((type) => error instanceof type)
}
