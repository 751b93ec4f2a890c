// Looks up DNS records of one name for a check that a person reads: bounded texts, and whether the answer is definite.

import { ALIAS_LOOP, type AskedServer, type Resolver } from '../../base/resolver.ts'

/** Bounds of the values shown: records per name, and characters of each. */
export const FOUND_MAX = 20
export const FOUND_CHARS_MAX = 1000
/** Servers noted for one name. */
export const ASKED_MAX = 6

/** The records of one name as texts. */
export interface DnsLookup {
  values: string[]
  /** False without a definite answer of a name server. */
  definite: boolean
  /** The servers that were asked. */
  asked: AskedServer[]
}

/** The values within their bounds. */
export function shown(values: string[]): string[] {
  return values.slice(0, FOUND_MAX).map((value) => value.slice(0, FOUND_CHARS_MAX))
}

export async function lookUpTxt(resolver: Resolver, name: string): Promise<DnsLookup> {
  return lookUp(resolver, name, 'TXT', (answer) => (answer as string[][]).map((chunks) => chunks.join('')))
}

export async function lookUpCname(resolver: Resolver, name: string): Promise<DnsLookup> {
  return lookUp(resolver, name, 'CNAME', (answer) =>
    (answer as string[]).map((value) => value.toLowerCase().replace(/\.$/, '')),
  )
}

export async function lookUpMx(resolver: Resolver, name: string): Promise<DnsLookup> {
  return lookUp(resolver, name, 'MX', (answer) =>
    (answer as { priority: number; exchange: string }[]).map(
      ({ priority, exchange }) => `${priority} ${exchange.toLowerCase().replace(/\.$/, '')}`,
    ),
  )
}

/** Asks past the cache; never throws. @param read turns the answer into texts */
export async function lookUp(
  resolver: Resolver,
  name: string,
  type: string,
  read: (answer: unknown) => string[],
): Promise<DnsLookup> {
  const asked: AskedServer[] = []
  const note = (server: AskedServer) => {
    if (asked.length < ASKED_MAX) asked.push(server)
  }
  try {
    return { values: read(await resolver.fresh(name, type, note)), definite: true, asked }
  } catch (error) {
    const code = (error as { code?: string }).code
    // "No such name", "no such record" and aliases that form a loop are answers; anything else is a name server in trouble.
    return { values: [], definite: code === 'ENOTFOUND' || code === 'ENODATA' || code === ALIAS_LOOP, asked }
  }
}
