// The state of a DKIM key, and the DNS record that publishes it.

import { DAY_MS } from '../../base/durations.ts'
import type { DnsRecord } from './dns-records.ts'

export type DkimAlgorithm = 'rsa' | 'ed25519'

/** A DKIM key without its private key; times in ms. */
export interface DkimKey {
  n: number
  /** `s1`, `s2`…: unique within a domain, never reused. */
  selector: string
  algorithm: DkimAlgorithm
  /** Base64 as `p=` publishes it. */
  public: string
  /** Whether the last check found its DNS record. */
  dnsOk: boolean
  /** When a check first found its DNS record; null before that. */
  foundAt: number | null
  createdAt: number
  /** When a newer key replaced it for signing; null before that. */
  retiredAt: number | null
}

/** How long the DNS record of a retired key is needed: messages in transit are still to be verified. */
export const RETIRED_NEEDED_MS = 7 * DAY_MS

/** The name of its DNS record. */
export function keyName(key: DkimKey, domainName: string): string {
  return `${key.selector}._domainkey.${domainName}`
}

export function keyRecord(key: DkimKey, domainName: string): DnsRecord {
  return { name: keyName(key, domainName), value: `v=DKIM1; k=${key.algorithm}; p=${key.public}` }
}

/** True when the DNS record of the key is no longer needed. */
export function isSuperseded(key: DkimKey, now: number): boolean {
  return key.retiredAt !== null && now >= key.retiredAt + RETIRED_NEEDED_MS
}
