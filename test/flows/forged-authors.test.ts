// Forged authors: forms of From that another reader may take for somebody else's, against the strictest policy (RFC 7489 §6.6.1).

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startHouse } from '../support/house.ts'
import { keptIn } from '../support/kept.ts'
import { SmtpClient } from '../support/smtp.ts'

const house = await startHouse({
  zone: {
    'attack.com': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    'good.example': { TXT: ['v=spf1 -all'] },
    '_dmarc.good.example': { TXT: ['v=DMARC1; p=reject'] },
    // A delegation whose name servers are gone: common in large zones.
    '_dmarc.old.good.example': { fault: 'servfail' },
    'old.good.example': { fault: 'servfail' },
    '_dmarc.np.example': { TXT: ['v=DMARC1; p=reject; sp=none; np=reject'] },
    '_dmarc.xn--gd-fkab.example': { TXT: ['v=DMARC1; p=reject'] },
    '_dmarc.upper.example': { TXT: ['v=DMARC1; P=reject'] },
    '_dmarc.spfrow.example': { TXT: ['v=spf1 -all', 'v=DMARC1;p=reject;'] },
    '_dmarc.alias.example': { CNAME: '_dmarc.good.example' },
    '_dmarc.sloppy.example': { TXT: ['v=DMARC1; p=reject; rua=mailto:a@b.example; rua=mailto:c@b.example'] },
    '_dmarc.two.example': { TXT: ['v=DMARC1; p=reject', 'v=DMARC1; p=reject; rua=mailto:x@two.example'] },
    '_dmarc.pct.example': { TXT: ['v=DMARC1; p=reject; pct=0'] },
  },
})
after(() => house.close())
const team = await house.team()
await team.domain('here.test')
const box = await team.mailbox('v@here.test')

async function offered(header: string | Buffer, utf8 = false) {
  await using client = await SmtpClient.greet(house.ports.smtp, 'attack.com')
  const before = (await keptIn(house, box.id)).length
  const content = Buffer.concat([
    Buffer.from(header as string, typeof header === 'string' ? (utf8 ? 'utf8' : 'latin1') : 'utf8'),
    Buffer.from(
      `\r\nTo: v@here.test\r\nDate: Fri, 20 Nov 2026 12:00:00 +0000\r\nMessage-ID: <1${Math.random()}@x>\r\n\r\nHi\r\n`,
    ),
  ])
  const { text } = await client.mail({ from: 'any@attack.com', to: 'v@here.test', content })
  return { answer: text, kept: (await keptIn(house, box.id)).slice(before) }
}
const long = 'a'.repeat(63)
const cases: [string, string][] = [
  ['lame subdomain', 'From: ceo@old.good.example'],
  ['below lame', 'From: ceo@mail.old.good.example'],
  ['np', 'From: ceo@nix.np.example'],
  ['long', `From: ceo@${long}.${long}.${long}.${'b'.repeat(40)}.good.example`],
  ['deep', `From: ceo@1.2.3.4.5.6.7.8.9.10.good.example`],
  ['idn', 'From: ceo@gööd.example'],
  ['idn upper', 'From: ceo@GÖÖD.example'],
  ['puny', 'From: ceo@xn--gd-fkab.example'],
  ['puny upper', 'From: ceo@XN--GD-FKAB.example'],
  ['nfd', 'From: ceo@go\u0308o\u0308d.example'],
  ['fw', 'From: ceo@ｇood.example'],
  ['fullwidth at', 'From: ceo＠good.example'],
  ['fullwidth at + real', 'From: ceo＠good.example <a@attack.com>'],
  ['local fullwidth at', 'From: ceo＠good.example@attack.com'],
  ['bidi local', 'From: \u202Eelpmaxe.doog@oec@attack.com'],
  ['bidi local2', 'From: <\u202Eelpmaxe.doog\u2066x@attack.com>'],
  ['trailing dot', 'From: ceo@good.example.'],
  ['ideographic dot', 'From: ceo@good。example'],
  ['tag upper', 'From: ceo@upper.example'],
  ['spf row', 'From: ceo@spfrow.example'],
  ['alias', 'From: ceo@alias.example'],
  ['sloppy dup', 'From: ceo@sloppy.example'],
  ['two', 'From: ceo@two.example'],
  ['pct', 'From: ceo@pct.example'],
  ['display', 'From: "ceo@good.example" <a@attack.com>'],
  ['display enc', 'From: =?utf-8?b?Y2VvQGdvb2QuZXhhbXBsZQ==?= <a@attack.com>'],
  ['encoded quoted', 'From: "=?utf-8?q?ceo=40good.example=22_=3Cceo=40good.example=3E?=" <a@attack.com>'],
  ['route', 'From: <@attack.com:ceo@good.example>'],
  ['route2', 'From: <@good.example:a@attack.com>'],
  ['pct hack', 'From: ceo%good.example@attack.com'],
  ['bang', 'From: good.example!ceo@attack.com'],
  ['odd casing', 'fRoM: a@attack.com\r\nFROM: ceo@good.example'],
  ['space colon', 'From : ceo@good.example'],
  ['tab colon', 'From\t: ceo@good.example'],
  ['resent', 'Resent-From: ceo@good.example\r\nSender: ceo@good.example\r\nFrom: a@attack.com'],
  ['mbox', 'From ceo@good.example Fri Nov 20\r\nFrom: a@attack.com'],
  ['gt mbox', '>From: ceo@good.example\r\nFrom: a@attack.com'],
  ['8bit', 'From: \xe9 ceo@good.example'],
  ['8bit2', 'From: "\xe9" <ceo@good.example>'],
  ['shift', 'From: \x1b$B@\x1b(B <ceo@good.example>'],
  ['iso2022 hidden', 'From: a@attack.com\x1b$B\x21\x21\x1b(B'],
  ['iso2022 name', 'From: "\x1b$B" <ceo@good.example>'],
  ['iso2022 swallow', 'From: \x1b$B <a@attack.com> \x1b(B <ceo@good.example>'],
  ['iso2022 swallow2', 'From: <ceo@good.example> \x1b$B <a@attack.com>'],
  ['iso2022 quote', 'From: "\x1b$B!!" \x1b(B<a@attack.com> ceo@good.example'],
  ['empty line ws', ' \r\nFrom: ceo@good.example'],
  ['lead fold', '\tFrom: ceo@good.example\r\nFrom: a@attack.com'],
  ['ws line mid', 'From: a@attack.com\r\n \r\n ceo@good.example'],
  ['ws line mid2', 'From:\r\n \r\n ceo@good.example'],
  ['comment', 'From: a@attack.com (ceo@good.example)'],
  ['comment2', 'From: (a@attack.com) ceo@good.example'],
  ['comment3', 'From: ceo(@attack.com)@good.example'],
  ['group', 'From: undisclosed:;'],
  ['apos', "From: 'ceo@good.example' <a@attack.com>"],
  ['apos2', "From: 'ceo@good.example'"],
  ['semicolon', 'From: ceo@good.example;'],
  ['two with ;', 'From: a@attack.com; ceo@good.example'],
  ['empty angle', 'From: ceo@good.example <>'],
  ['no local', 'From: @good.example'],
  ['escaped', 'From: ceo\\@good.example@attack.com'],
  ['quoted local', 'From: "ceo@good.example"@attack.com'],
  ['quoted local angle', 'From: <"ceo@good.example> "@attack.com>'],
  ['content-type charset', 'Content-Type: text/plain; charset=utf-7\r\nFrom: ceo+AEA-good.example <a@attack.com>'],
  ['charset big5', 'Content-Type: text/plain; charset=big5\r\nFrom: \xa4@attack.com ceo@good.example'],
  ['11 lines', `${'X: y\r\n'.repeat(1100)}From: ceo@good.example`],
  ['930 lines', `${'X: y\r\n'.repeat(930)}From: ceo@good.example`],
  ['del', 'From\x7f: ceo@good.example\r\nFrom: a@attack.com'],
  ['ctrl', 'From: ceo@good.example\x01 <a@attack.com>'],
  ['ctrl2', 'From: a@attack.com\x0bceo@good.example'],
  ['ff', 'From: a@attack.com\x0c\r\n ceo@good.example'],
  ['utf8 bom', '\ufeffFrom: ceo@good.example\r\nFrom: a@attack.com'],
  ['dashes', '--x\r\nFrom: ceo@good.example'],
]
for (const [name, header] of cases) {
  test(name, async (t) => {
    const utf8 = /[^\x00-\xff]|[öÖ]/.test(header)
    const { answer, kept } = await offered(header, utf8)
    const k = kept[0]
    t.diagnostic(
      `${answer.slice(0, 60)} | ${k ? `${k.role} from=${JSON.stringify(k.from)} dmarc=${k.authentication.dmarc} score=${k.spam.score} ${k.spam.reasons} ${k.authentication.reasons.at(-1)}` : '-'}`,
    )
    if (process.env.OUT)
      console.log(
        `## ${name}: ${answer.slice(0, 50)} | ${k ? `${k.role} from=${JSON.stringify(k.from)} dmarc=${k.authentication.dmarc} score=${k.spam.score} ${k.spam.reasons}` : '-'}`,
      )
  })
}
test('a subdomain whose name servers are gone is no way around the policy above it', async () => {
  for (const from of ['ceo@old.good.example', 'ceo@mail.old.good.example']) {
    const { answer, kept } = await offered(`From: ${from}`)
    assert.match(answer, /^4|^5/, from)
    assert.deepEqual(kept, [])
  }
})
