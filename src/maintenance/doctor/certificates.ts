// The certificates that are obtained by ACME: which wait, and why.

import { DAY_MS } from '../../base/durations.ts'
import { type CertificateStatus, FAILURES_REPORTED } from '../../certificates/certificates.ts'
import type { DoctorDeps } from './deps.ts'
import { type Finding, failing, fine, warning } from './finding.ts'

/** A certificate that ends so soon and could not be renewed is a failure, ms. */
const SOON_MS = 7 * DAY_MS

export function checkCertificates({ certificates, clock }: Pick<DoctorDeps, 'certificates' | 'clock'>): Finding[] {
  if (!certificates.isOn) return []
  return certificates.list().map((one) => findingOf(one, clock.now()))
}

function findingOf({ name, served, reason, failures }: CertificateStatus, now: number): Finding {
  const until = served === null ? null : new Date(served.notAfter).toISOString().slice(0, 10)
  const has = until === null ? `${name} has no certificate yet` : `The certificate of ${name} is valid until ${until}`
  if (reason === null) {
    if (served !== null) return fine('certificate', `${has} and is renewed by itself.`)
    return warning('certificate', `${has}: it is being ordered.`, 'See mailstead certificate; an order takes a minute.')
  }
  const says = `${has}, and the next one could not be obtained: ${reason}`
  const advice = `Correct this; mailstead certificate renew ${name} then tries at once.`
  const isLate = served !== null && served.notAfter - now < SOON_MS
  return failures >= FAILURES_REPORTED || isLate
    ? failing('certificate', says, advice)
    : warning('certificate', says, advice)
}
