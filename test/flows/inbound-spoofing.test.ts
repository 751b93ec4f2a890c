// The espoofer attacks over SMTP: whatever they show, none shows as authenticated mail of the domain they pretend to be.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { rsaKey, signMail } from '../support/dkim.ts'
import { fixtureJson, fixturesMissing } from '../support/fixtures.ts'
import { startHouse } from '../support/house.ts'
import { keptIn } from '../support/kept.ts'
import { plainMail, SmtpClient } from '../support/smtp.ts'

interface Attack {
  id: string
  helo: string
  mailfrom: string
  rcptto: string
  dkim_para?: { d: string; s: string; sign_header: string }
  data: Record<'from_header' | 'to_header' | 'subject_header' | 'other_headers' | 'body', string>
}

const FILE = 'spoofing/espoofer-cases.json'
const attacks = fixtureJson<Attack[]>(FILE)
const VICTIM = 'victim@victim.com'
const key = rsaKey()
const attacker = ['v=spf1 ip4:127.0.0.1 -all']

const house = await startHouse({
  zone: {
    'legitimate.com': { TXT: ['v=spf1 ip4:192.0.2.1 -all'], A: ['192.0.2.1'] },
    // Watching only, so that what gets through is seen and not refused.
    '_dmarc.legitimate.com': { TXT: ['v=DMARC1; p=none'] },
    'attack.com': { TXT: attacker },
    'any.attack.com': { TXT: attacker },
    "legitimate.com'@any.attack.com": { TXT: attacker },
    "selector._domainkey.legitimate.com'a.attack.com": { TXT: [key.record] },
    'example.com': { TXT: attacker },
  },
})
after(() => house.close())
const team = await house.team()
const victim = await openVictim()

/** A mailbox at victim.com, which has to be proved by DNS first. */
async function openVictim() {
  const { domains } = house.app.directory
  const { id, records } = await domains.create(team.id, 'victim.com')
  house.dns.zone[records.verification.name] = { TXT: [records.verification.value] }
  await domains.verify(team.id, id)
  return team.mailbox(VICTIM)
}

/** The bytes of the mail as the attack's program builds them. */
function contentOf({ data, dkim_para: dkim }: Attack): string {
  const content = data.from_header + data.to_header + data.subject_header + data.other_headers + data.body
  if (!dkim) return content
  return signMail(content, { key, domain: dkim.d, selector: dkim.s, lines: [dkim.sign_header] })
}

let seen = 0

test('the attacks are there', { skip: fixturesMissing(FILE) }, () => {
  assert.equal(attacks.length, 11)
})

for (const attack of attacks) {
  test(`${attack.id} does not show as authenticated mail of legitimate.com`, async (context) => {
    await using client = await SmtpClient.connect(house.ports.smtp)
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
    const kept = (await keptIn(house, victim.id)).slice(seen)
    seen += kept.length
    assert.ok(kept.length === 0 ? /^5/.test(codes.at(-1)!) : kept.length === 1, codes.join(' | '))
    for (const { from, authentication, role } of kept) {
      context.diagnostic(`shown from ${from || 'nobody'} in ${role}, DMARC ${authentication.dmarc}`)
      if (!from.endsWith('legitimate.com')) continue
      assert.equal(authentication.fromAligned, false)
      assert.notEqual(authentication.dmarc, 'pass')
    }
  })
}

test('the real sender does', async () => {
  house.dns.zone['legitimate.com'] = { TXT: attacker }
  await using client = await SmtpClient.greet(house.ports.smtp, 'legitimate.com')
  const content = plainMail({ from: 'admin@legitimate.com', to: VICTIM })
  await client.mail({ from: 'any@legitimate.com', to: VICTIM, content })
  const [mail] = (await keptIn(house, victim.id)).slice(seen)
  assert.deepEqual([mail!.from, mail!.authentication.fromAligned], ['admin@legitimate.com', true])
})
