// Names of DKIM and ARC in the form in which DNS is asked for them (RFC 8616).

import tools from 'mailauth/lib/tools.js'

/** Longer names have no A-labels, which take quadratic time: no name of DNS is as long in any form. */
export const NAME_CHARS_MAX = 1024

/** A name with A-labels, as SPF, DMARC and the seals of ARC are asked for. At most NAME_CHARS_MAX characters are read. */
export function aLabels(name: string): string {
  return tools.toALabel(name.slice(0, NAME_CHARS_MAX))
}

/** Lower case, A-labels, without a final dot: equal for two spellings of one domain. */
export function plainName(name: string): string {
  return aLabels(name.trim()).toLowerCase().replace(/\.$/, '')
}

/** Whether a domain is another one or below it. */
export function isWithin(domain: string, parent: string): boolean {
  const [inner, outer] = [plainName(domain), plainName(parent)]
  return inner !== '' && outer !== '' && (inner === outer || inner.endsWith(`.${outer}`))
}
