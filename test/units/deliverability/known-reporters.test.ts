// Only receivers of a domain's mail count as reporters, by their own domain and by that of their mail servers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiversOf } from '../../../src/deliverability/known-reporters.ts'
import type { Store } from '../../../src/store/store.ts'
import { zoneResolver } from '../../support/dns.ts'

test('a receiver is known by its domain and by who runs its mail servers', async () => {
  const resolver = zoneResolver({
    'gmail.com': { MX: [{ priority: 5, exchange: 'gmail-smtp-in.l.google.com' }] },
    'hotmail.com': { MX: [{ priority: 5, exchange: 'hotmail-com.olc.protection.outlook.com' }] },
  })
  const share = (key: string | null, delivered: number) => ({ key, providerName: '', counts: { delivered } })
  const shares = [
    share('gmail.com', 4),
    share('hotmail.com', 1),
    share('mail.small.co.uk', 1),
    share('never.org', 0),
    share(null, 9),
  ]
  const store = { log: { reports: { breakdown: async () => ({ shares, other: {} }) } } } as unknown as Pick<
    Store,
    'log'
  >
  const known = await receiversOf({ resolver, store }, { name: 'shop.org', teamId: 'team_1' }, Date.UTC(2030, 0, 2))
  assert.deepEqual([...known].sort(), [
    'gmail.com',
    'google.com',
    'hotmail.com',
    'microsoft.com',
    'outlook.com',
    'small.co.uk',
  ])
})
