// DANE with a zone that Knot signs and Unbound validates, and with answers that nothing validates.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, it } from 'node:test'
import { keyDigestOf } from '../../src/acme/issued-chain.ts'
import { systemClock } from '../../src/base/clock.ts'
import { openResolver } from '../../src/base/resolver.ts'
import { openDirect } from '../../src/outbound/transports/direct/direct.ts'
import { carrierConfig, handover, shortOutcomes, wordsOf } from '../support/carriers.ts'
import { dnssecMissing, startValidator, type Validator } from '../support/dnssec.ts'
import { certificateFor, type MailServer, startMailServer } from '../support/mail-server.ts'

const OWN = await certificateFor('mx.signed.test')
const DIGEST = keyDigestOf(new X509Certificate(OWN.cert))
const OTHER = 'ab'.repeat(32)

/** A zone with a mail server and the digest of its key. */
const lines = (port: number, digest: string) => [
  '@ MX 10 mx',
  'mx A 127.0.0.1',
  `_${port}._tcp.mx TLSA 3 1 1 ${digest}`,
  'alias MX 10 name',
  'name CNAME mx',
]

async function sent(server: MailServer, dns: string, domain: string, isTrusted: boolean) {
  const resolver = openResolver({ servers: [dns], clock: systemClock, isTrusted })
  const direct = openDirect({
    clock: systemClock,
    config: carrierConfig({ DIRECT_PORT: String(server.port) }),
    resolver,
  })
  const handed = await direct.hand(handover({ recipients: [`bob@${domain}`] }))
  await direct.close()
  await resolver.close()
  return handed
}

describe('Knot and Unbound', { skip: dnssecMissing() }, () => {
  const withDns = async (run: (dns: Validator, server: MailServer) => Promise<void>) => {
    await using server = await startMailServer({ ...OWN })
    await using dns = await startValidator({
      'signed.test': { kind: 'signed', lines: lines(server.port, DIGEST) },
      'wrong.test': { kind: 'signed', lines: lines(server.port, OTHER) },
      'plain.test': { kind: 'unsigned', lines: lines(server.port, OTHER) },
      'bogus.test': { kind: 'bogus', lines: lines(server.port, DIGEST) },
    })
    await run(dns, server)
  }

  it('say what is validated: DANE holds for signed zones, and for answers of a trusted resolver alone', () =>
    withDns(async (dns, server) => {
      const words = wordsOf(await sent(server, dns.address, 'signed.test', true))
      assert.match(words, /certificate matches TLSA, as DANE of mx\.signed\.test requires\)$/)
      const alias = wordsOf(await sent(server, dns.address, 'alias.signed.test', true))
      assert.match(alias, /as DANE of mx\.signed\.test requires\)$/, 'the records of the name that an alias leads to')
      const outcomes = async (domain: string, isTrusted: boolean, at = dns.address) =>
        shortOutcomes(await sent(server, at, domain, isTrusted))
      assert.deepEqual(await outcomes('wrong.test', true), ['later tls_policy'])
      assert.deepEqual(await outcomes('plain.test', true), ['sent'], 'records of an unsigned zone are none')
      assert.deepEqual(await outcomes('bogus.test', true), ['later dns'], 'nothing of it is believed')
      assert.deepEqual(await outcomes('wrong.test', false), ['sent'], 'AD of a resolver that is not trusted')
      assert.deepEqual(await outcomes('wrong.test', true, dns.authority), ['sent'], 'a server that validates nothing')
    }))
})
