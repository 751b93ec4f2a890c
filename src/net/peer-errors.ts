// What errors of node:net and node:tls mean, as the end of a sentence that begins with the name of a server or of its certificate.

/** By the code of a socket that could not be connected. */
export const CONNECT_ERRORS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'refuses connections'],
  ['EHOSTUNREACH', 'cannot be reached'],
  ['ENETUNREACH', 'is in a network that cannot be reached from here'],
  ['ETIMEDOUT', 'does not answer'],
])

const UNTRUSTED = 'was not issued by an authority that is trusted here'
/** By the code of a TLS handshake that failed. */
export const CERTIFICATE_ERRORS: ReadonlyMap<string, string> = new Map([
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['CERT_NOT_YET_VALID', 'is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another name'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'is signed by itself'],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED],
  ['CERT_REVOKED', 'was revoked'],
])
