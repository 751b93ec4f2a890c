// A key of a domain as it is shown: its state, and the record that publishes it.

import type { DnsRecord } from './dns-records.ts'

export type DkimAlgorithm = 'rsa' | 'ed25519'

/** What is known of a key without its private half; times in ms. */
export interface DkimKey {
  n: number
  /** `s1`, `s2`…: never used twice by a domain. */
  selector: string
  algorithm: DkimAlgorithm
  /** Base64 as `p=` publishes it. */
  public: string
  /** Whether DNS showed it when it was last asked. */
  dnsOk: boolean
  /** When DNS showed it first, null as long as it never did. */
  foundAt: number | null
  createdAt: number
  /** Since when a newer key signs in its place, null while none does. */
  retiredAt: number | null
}

/** How long the record of a key is needed once nothing is signed with it: mail on its way is still to be checked. */
export const RETIRED_NEEDED_MS = 7 * 24 * 60 * 60 * 1000

/** The name its record has in DNS. */
export function keyName(key: DkimKey, domainName: string): string {
  return `${key.selector}._domainkey.${domainName}`
}

export function keyRecord(key: DkimKey, domainName: string): DnsRecord {
  return { name: keyName(key, domainName), value: `v=DKIM1; k=${key.algorithm}; p=${key.public}` }
}

/** True when nobody needs the record of the key any more. */
export function isSuperseded(key: DkimKey, now: number): boolean {
  return key.retiredAt !== null && now >= key.retiredAt + RETIRED_NEEDED_MS
}
