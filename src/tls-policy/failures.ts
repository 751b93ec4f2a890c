// Why TLS with a mail server failed, in the words of TLS reports (RFC 8460 §4.3).

export const TLS_FAILURES = [
  'starttls-not-supported',
  'certificate-host-mismatch',
  'certificate-expired',
  'certificate-not-trusted',
  'validation-failure',
  'tlsa-invalid',
  'dnssec-invalid',
  'dane-required',
  'sts-policy-fetch-error',
  'sts-policy-invalid',
  'sts-webpki-invalid',
] as const
export type TlsFailure = (typeof TLS_FAILURES)[number]

const BY_CODE: ReadonlyMap<string, TlsFailure> = new Map([
  ['CERT_HAS_EXPIRED', 'certificate-expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate-host-mismatch'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate-not-trusted'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate-not-trusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate-not-trusted'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'certificate-not-trusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate-not-trusted'],
  ['CERT_REVOKED', 'certificate-not-trusted'],
])

/** @param code of an error of node:tls */
export function failureOfCode(code: string): TlsFailure {
  return BY_CODE.get(code) ?? 'validation-failure'
}
