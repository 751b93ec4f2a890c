// Forged authors: From fields that another mail client may read as a different author, against the strictest policy (RFC 7489 §6.6.1).

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startAppliance } from '../support/appliance.ts'
import { SmtpClient } from '../support/smtp.ts'
import { storedMessages } from '../support/stored.ts'

const appliance = await startAppliance({
  zone: {
    'attack.com': { TXT: ['v=spf1 ip4:127.0.0.1 -all'] },
    'good.example': { TXT: ['v=spf1 -all'] },
    '_dmarc.good.example': { TXT: ['v=DMARC1; p=reject'] },
    // A delegation whose name servers are gone: common in large zones.
    '_dmarc.old.good.example': { error: 'servfail' },
    'old.good.example': { error: 'servfail' },
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
after(() => appliance.close())
const team = await appliance.team()
await team.domain('here.test')
const box = await team.mailbox('v@here.test')

async function offered(header: string | Buffer, utf8 = false) {
  await using client = await SmtpClient.greet(appliance.ports.smtp, 'attack.com')
  const before = (await storedMessages(appliance, box.id)).length
  const content = Buffer.concat([
    Buffer.from(header as string, typeof header === 'string' ? (utf8 ? 'utf8' : 'latin1') : 'utf8'),
    Buffer.from(
      `\r\nTo: v@here.test\r\nDate: Fri, 20 Nov 2026 12:00:00 +0000\r\nMessage-ID: <1${Math.random()}@x>\r\n\r\nHi\r\n`,
    ),
  ])
  const { text } = await client.mail({ from: 'any@attack.com', to: 'v@here.test', content })
  return { answer: text, kept: (await storedMessages(appliance, box.id)).slice(before) }
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
  ['name in brackets', 'From: ceo@[good.example]'],
  ['name in brackets in an angle', 'From: CEO <ceo@[good.example]>'],
  ['name in brackets with blanks', 'From: ceo@[ good.example ]'],
  ['name without a policy in brackets', 'From: ceo@[attack.com]'],
  ['literal with a wrong tag', 'From: ceo@[dns:good.example]'],
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
/** No policy applies to these: none is published, or under a wrong A-label, with an unknown tag, with a tag twice, or in two records. */
const WITHOUT_POLICY = new Set(['attack.com', 'gööd.example', 'upper.example', 'sloppy.example', 'two.example'])
for (const [name, header] of cases) {
  test(`the author that is shown may be in the Inbox: ${name}`, async () => {
    const utf8 = /[^\x00-\xff]|[öÖ]/.test(header)
    const { answer, kept } = await offered(header, utf8)
    assert.match(answer, /^(?:250|[45]\d\d) /)
    for (const { role, from, spam } of kept) {
      if (role === 'junk') continue
      const domain = from.slice(from.lastIndexOf('@') + 1)
      assert.ok(WITHOUT_POLICY.has(domain.normalize('NFC').toLowerCase()), `${from} in ${role}, ${spam.reasons}`)
    }
  })
}
const word = (text: string) => `=?utf-8?b?${Buffer.from(text).toString('base64')}?=`
const disguised: [string, string][] = [
  ['full-width @ in the local part', 'ceo\uff20good.example@attack.com'],
  ['small @ in the local part', 'Ann <ceo\ufe6bgood.example@attack.com>'],
  ['override in the local part', '<\u202eelpmaxe.doog\u2066x@attack.com>'],
  ['zero width in the local part', '<ceo\u200b@attack.com>'],
  ['encoded word as local part', '<=?utf-8?q?ceo=40good.example?=@attack.com>'],
  ['full-width @ in the name', 'ceo\uff20good.example <a@attack.com>'],
  ['full-width @ in an encoded name', `${word('ceo\uff20good.example')} <a@attack.com>`],
  ['small @ in a quoted name', '"ceo\ufe6bgood.example" <a@attack.com>'],
  ['full-width letters in the name', `${word('ceo@\uff47ood.example')} <a@attack.com>`],
  ['ideographic full stop in the name', `${word('ceo@good\u3002example')} <a@attack.com>`],
  ['zero width behind the @ of the name', `${word('ceo@\u200bgood.example')} <a@attack.com>`],
  ['zero width in the name', `${word('ce\u200bo@good.example')} <a@attack.com>`],
  ['soft hyphen in the top-level domain of the name', `${word('ceo@good.exam\u00adple')} <a@attack.com>`],
  ['override in the name', `${word('\u202eelpmaxe.doog@oec')} <a@attack.com>`],
  ['name as a comment', `a@attack.com (${word('ceo\uff20good.example')})`],
]
for (const [what, from] of disguised) {
  test(`not in the Inbox: ${what}`, async () => {
    const { kept } = await offered(`From: ${from}`, true)
    assert.deepEqual(
      kept.map(({ role }) => role).filter((role) => role !== 'junk'),
      [],
      JSON.stringify(kept[0]),
    )
  })
}
const honest: [string, string][] = [
  ['full-width @ before a department', `${word('\u7530\u4e2d\uff20\u55b6\u696d\u90e8')} <a@attack.com>`],
  ['full-width form of the own address', `${word('a\uff20attack.com')} <a@attack.com>`],
  ['direction marks in a name', `${word('\u200f\u05d3\u05d5\u05d3\u200e')} <a@attack.com>`],
  ['the joiner of a Persian name', `${word('\u0645\u06cc\u200c\u062e')} <a@attack.com>`],
]
for (const [what, from] of honest) {
  test(`in the Inbox: ${what}`, async () => {
    const { answer, kept } = await offered(`From: ${from}`, true)
    assert.deepEqual(
      kept.map(({ role }) => role),
      ['inbox'],
      `${answer} ${JSON.stringify(kept[0])}`,
    )
  })
}
test('a subdomain with unreachable name servers does not bypass the policy of its parent', async () => {
  for (const from of ['ceo@old.good.example', 'ceo@mail.old.good.example']) {
    const { answer, kept } = await offered(`From: ${from}`)
    assert.match(answer, /^4|^5/, from)
    assert.deepEqual(kept, [])
  }
})
