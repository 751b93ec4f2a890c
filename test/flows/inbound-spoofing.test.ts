// Forged messages over SMTP: none is shown as authenticated mail of the domain it pretends to be from.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startAppliance } from '../support/appliance.ts'
import { rsaKey, signMail } from '../support/dkim.ts'
import { fixtureJson } from '../support/fixtures.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'
import { storedMessages } from '../support/stored.ts'
import { ATTACKS, type Attack } from '../vectors/spoofing.ts'

/** Our own, and those of espoofer where the fixtures are. */
const attacks = [...ATTACKS, ...fixtureJson<Attack[]>('spoofing/espoofer-cases.json')]
const VICTIM = 'victim@victim.com'
const key = rsaKey()
const attacker = ['v=spf1 ip4:127.0.0.1 -all']

const appliance = await startAppliance({
  zone: {
    'legitimate.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'], A: ['192.0.2.1'] },
    // Watching only, so that what gets through is seen and not refused.
    '_dmarc.legitimate.com': { TXT: ['v=DMARC1; p=none'] },
    'attack.com': { TXT: attacker },
    'any.attack.com': { TXT: attacker },
    "legitimate.com'@any.attack.com": { TXT: attacker },
    "selector._domainkey.legitimate.com'a.attack.com": { TXT: [key.record] },
    'selector._domainkey.legitimate.com.attack.com': { TXT: [key.record] },
    'example.com': { TXT: attacker },
    'good.example': { TXT: ['v=spf1 -all'] },
    '_dmarc.good.example': { TXT: ['v=DMARC1; p=reject'] },
    's1._domainkey.good.example': { TXT: [key.record] },
  },
})
after(() => appliance.close())
const team = await appliance.team()
const victim = await openVictim()

/** A mailbox at victim.com, which has to be proved by DNS first. */
async function openVictim() {
  const { domains } = appliance.app.directory
  const { id, records } = await domains.create(team.id, 'victim.com')
  appliance.dns.zone[records.verification.name] = { TXT: [records.verification.value] }
  await appliance.app.administration.domains.verify(team.id, id)
  return team.mailbox(VICTIM)
}

/** The bytes of the mail as the attack's program builds them. */
function contentOf({ data, dkim_para: dkim }: Attack): string {
  const content = data.from_header + data.to_header + data.subject_header + data.other_headers + data.body
  if (!dkim) return content
  return signMail(content, { key, domain: dkim.d, selector: dkim.s, lines: [dkim.sign_header] })
}

let seen = 0

for (const attack of attacks) {
  test(`${attack.id} is not shown as authenticated mail of legitimate.com`, async (context) => {
    await using client = await SmtpClient.connect(appliance.ports.smtp)
    await client.expect(220)
    const codes: string[] = []
    for (const command of [`EHLO ${attack.helo}`, `MAIL FROM:${attack.mailfrom}`, `RCPT TO:${attack.rcptto}`, 'DATA']) {
      const { code, text } = await client.command(command)
      codes.push(text)
      if (code >= 400) break
    }
    if (codes.at(-1)!.startsWith('354')) {
      client.write(Buffer.from(`${contentOf(attack)}\r\n.\r\n`, 'latin1'))
      codes.push((await client.reply()).text)
    }
    const kept = (await storedMessages(appliance, victim.id)).slice(seen)
    seen += kept.length
    assert.ok(kept.length === 0 ? /^5/.test(codes.at(-1)!) : kept.length === 1, codes.join(' | '))
    for (const { from, authentication, role } of kept) {
      context.diagnostic(`shown from ${from || 'no address'} in ${role}, DMARC ${authentication.dmarc}`)
      if (!from.endsWith('legitimate.com')) continue
      assert.equal(authentication.fromAligned, false)
      assert.notEqual(authentication.dmarc, 'pass')
    }
  })
}

test('a message of the real sender is', async () => {
  appliance.dns.zone['legitimate.com'] = { TXT: attacker }
  await using client = await SmtpClient.greet(appliance.ports.smtp, 'legitimate.com')
  const content = plainMail({ from: 'admin@legitimate.com', to: VICTIM })
  await client.mail({ from: 'any@legitimate.com', to: VICTIM, content })
  const [mail] = (await storedMessages(appliance, victim.id)).slice(seen)
  assert.deepEqual([mail!.from, mail!.authentication.fromAligned], ['admin@legitimate.com', true])
})

/** Hands a message in as attack.com, which may send for itself. */
async function offered(header: string): Promise<{ answer: string; kept: Awaited<ReturnType<typeof storedMessages>> }> {
  await using client = await SmtpClient.greet(appliance.ports.smtp, 'attack.com')
  const before = (await storedMessages(appliance, victim.id)).length
  const content = `${header}\r\nTo: ${VICTIM}\r\nDate: Fri, 20 Nov 2026 12:00:00 +0000\r\nMessage-ID: <1@x>\r\n\r\nHi\r\n`
  const { text } = await client.mail({ from: 'any@attack.com', to: VICTIM, content })
  return { answer: text, kept: (await storedMessages(appliance, victim.id)).slice(before) }
}

test('a reject policy applies in whatever form the domain name is written', async () => {
  const ceo = 'From: ceo@good.example'
  const headers = [
    ...[ceo, `X-Pad:${' '.repeat(257)}y\r\n${ceo}`, `X-Long: ${'y'.repeat(70_000)}\r\n${ceo}`, `no field\r\n${ceo}`],
    ...[
      'From: ceo@good(x).example',
      'From: ceo @ good . example',
      'From: <ceo@go od.example>',
      'From: G: ceo@good.example;',
    ],
    ...[
      'From: a@attack.com\r\n\tceo@good.example',
      'From: ceo@good.example, a@attack.com',
      `From: a@attack.com\r\n${ceo}`,
    ],
  ]
  for (const header of headers) {
    const { answer, kept } = await offered(header)
    assert.match(answer, /^550 5\.7\.1 .*good\.example/, header.slice(0, 80))
    assert.deepEqual(kept, [])
  }
})

test('a message with an ambiguous author is in Junk, with the reason', async () => {
  for (const from of ['a@attack.com, b@attack.com', 'a@attack.com b@attack.com', 'G: a@attack.com;', 'nobody']) {
    const { kept } = await offered(`From: ${from}`)
    assert.deepEqual([kept[0]!.role, kept[0]!.authentication.fromAligned], ['junk', false], from)
    assert.ok(kept[0]!.spam.reasons.includes('author_unclear'), from)
  }
  assert.equal((await offered('From: a@attack.com')).kept[0]!.role, 'inbox')
})

test('a field above a signed one of the same name invalidates the signature', async () => {
  const mail = signMail('From: ceo@good.example\r\nSubject: hello\r\n\r\nHi\r\n', {
    key,
    domain: 'good.example',
    fields: ['from', 'subject'],
  }).split('\r\n\r\n')[0]!
  assert.equal((await offered(mail)).kept[0]!.authentication.fromAligned, true)
  assert.match((await offered(`Subject: pay now\r\n${mail}`)).answer, /^550 5\.7\.1 .*good\.example/)
})

test('an unauthenticated message with a local domain in From is in Junk, with and without a policy', async () => {
  for (const from of ['boss@victim.com', 'Boss <boss@VICTIM.com>']) {
    const [mail] = (await offered(`From: ${from}`)).kept
    assert.deepEqual([mail!.role, mail!.authentication.dmarc], ['junk', 'none'])
    assert.ok(mail!.spam.reasons.includes('own_domain_unproven'))
  }
  assert.equal((await offered('From: boss@victim.com.attack.com')).kept[0]!.role, 'inbox')
  appliance.dns.zone['victim.com'] = { TXT: attacker }
  await using client = await SmtpClient.greet(appliance.ports.smtp, 'attack.com')
  await client.mail({
    from: 'news@victim.com',
    to: VICTIM,
    content: plainMail({ from: 'boss@victim.com', to: VICTIM }),
  })
  const last = (await storedMessages(appliance, victim.id)).at(-1)!
  assert.deepEqual([last.role, last.authentication.fromAligned], ['inbox', true])
})
