// Writes invented message headers for training the dictionary of src/mime/header-dictionary.ts: node scripts/run.js scripts/header-samples.ts <folder>
//
// The dictionary is frozen: it was made once with `zstd --train <folder>/* --maxdict=16384 -o dictionary` of zstd 1.5.4 and
// stored as base64. A new one needs a new format byte in src/mime/message-headers.ts.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const COUNT = 4000
let state = 0x2545f491

/** xorshift32: the same samples in every run. */
function below(limit: number): number {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) % limit
}

function pick<T>(from: readonly T[]): T {
  return from[below(from.length)]!
}

function token(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[below(alphabet.length)]).join('')
}

const HEX = '0123456789abcdef'
const B64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const FIRST =
  'Anna Ben Carla David Elena Frank Greta Hugo Ines Jonas Klara Luis Maria Nora Oscar Paula Robert Sarah Tom Vera'.split(
    ' ',
  )
const LAST =
  'Adler Berg Costa Dupont Evans Fischer Garcia Hansen Ivanov Jensen Keller Lopez Meyer Novak Olsen Petit Rossi Smith'.split(
    ' ',
  )
const HOSTS = [
  ...['gmail.com', 'outlook.com', 'hotmail.com', 'yahoo.com', 'icloud.com', 'gmx.de', 'web.de', 'proton.me', 'aol.com'],
  ...[
    'example.com',
    'example.org',
    'example.net',
    'mail.example.com',
    'company.example',
    'shop.example',
    'lists.example.org',
  ],
]
const WORDS = (
  'invoice order meeting update report your the for and from with new account payment password confirm welcome shipping delivered ' +
  'receipt reminder tomorrow project status question contract newsletter weekly offer security alert notification request review ' +
  'Rechnung Bestellung Termin Angebot Anfrage Ihre und für votre facture commande rendez-vous factura pedido reunión'
).split(' ')
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const ZONES = [
  '+0000',
  '+0000',
  '+0000 (UTC)',
  '-0400',
  '-0500',
  '-0700',
  '-0800',
  '+0100',
  '+0200',
  '+0530',
  '+0900',
  'GMT',
]

const two = (value: number) => String(value).padStart(2, '0')

function date(): string {
  return `${pick(DAYS)}, ${1 + below(28)} ${pick(MONTHS)} ${2018 + below(12)} ${two(below(24))}:${two(below(60))}:${two(below(60))} ${pick(ZONES)}`
}

function person(): string {
  const [first, last] = [pick(FIRST), pick(LAST)]
  const host = pick(HOSTS)
  // No address that a person might have: names only at reserved domains.
  const local = /example/.test(host)
    ? `${first}${pick(['.', '', '_'])}${last}`.toLowerCase()
    : pick(['user', 'name', 'mail'])
  const address = `${local}@${host}`
  return pick([
    `${first} ${last} <${address}>`,
    `"${last}, ${first}" <${address}>`,
    address,
    `<${address}>`,
    `${first} <${address}>`,
  ])
}

function sender(): string {
  const name = pick([
    'Newsletter',
    'Support',
    'Notifications',
    'No Reply',
    'Billing',
    'Customer Service',
    'Security Team',
    'Orders',
  ])
  return `${name} <${pick(['noreply', 'no-reply', 'info', 'support', 'notifications', 'newsletter', 'news', 'hello', 'billing'])}@${pick(HOSTS)}>`
}

function id(): string {
  const host = pick(HOSTS)
  return pick([
    () => `<CA${token(B64, 6)}=${token(B64, 12)}_${token(B64, 20)}@mail.gmail.com>`,
    () => `<${token(HEX, 8)}-${token(HEX, 4)}-${token(HEX, 4)}-${token(HEX, 4)}-${token(HEX, 12)}@${host}>`,
    () =>
      `<${token(HEX.toUpperCase(), 8)}-${token(HEX.toUpperCase(), 4)}-4${token(HEX.toUpperCase(), 3)}-${token(HEX.toUpperCase(), 12)}@${host}>`,
    () =>
      `<AM0PR0${below(10)}MB${1000 + below(9000)}${token(HEX.toUpperCase(), 26)}@AM0PR0${below(10)}MB${1000 + below(9000)}.eurprd0${below(10)}.prod.outlook.com>`,
    () => `<20${18 + below(12)}${two(below(12))}${two(below(28))}${below(99999)}.${token(B64, 6)}@${host}>`,
    () => `<0100${token(HEX, 12)}-${token(HEX, 8)}-${token(HEX, 4)}-000000@email.amazonses.com>`,
    () => `<${1_000_000_000 + below(999_999_999)}.${below(99999)}.${1_500_000_000_000 + below(99_999_999)}@${host}>`,
    () => `<${token(B64, 22)}@geopod-ismtpd-${below(40)}>`,
  ])()
}

function subject(): string {
  const words = Array.from({ length: 2 + below(6) }, () => pick(WORDS)).join(' ')
  const plain = words[0]!.toUpperCase() + words.slice(1)
  return pick([
    () => plain,
    () => `Re: ${plain}`,
    () => `${pick(['Fwd: ', 'FW: ', 'AW: ', 'RE: ', 'Re: [project] ', '[list] '])}${plain}`,
    () => `=?UTF-8?Q?${plain.replaceAll(' ', '_')}_=E2=80=93_=C3=BC?=`,
    () => `=?utf-8?B?${Buffer.from(`${plain} ✅`).toString('base64')}?=`,
    () => `=?iso-8859-1?Q?Gr=FC=DFe_${pick(WORDS)}?=`,
  ])()
}

function contentType(): string[] {
  const plain = pick([
    'text/plain; charset=UTF-8',
    'text/plain; charset="UTF-8"',
    'text/plain; charset="us-ascii"',
    'text/plain; charset=utf-8; format=flowed',
    'text/html; charset=UTF-8',
    'text/html; charset="utf-8"',
    'text/plain; charset=iso-8859-1',
  ])
  const kind = pick(['alternative', 'alternative', 'mixed', 'related', 'signed', 'report'])
  return pick([
    () => [
      `Content-Type: ${plain}`,
      `Content-Transfer-Encoding: ${pick(['7bit', '8bit', 'quoted-printable', 'base64'])}`,
    ],
    () => [`Content-Type: multipart/${kind}; boundary="${token(HEX, 28)}"`],
    () => [
      `Content-Type: multipart/${kind};`,
      `\tboundary="----=_Part_${below(999999)}_${below(999999999)}.${1_500_000_000_000 + below(99_999_999)}"`,
    ],
    () => [`Content-Type: multipart/${kind};`, ` boundary="------------${token(B64, 24)}"`],
    () => [
      `Content-Type: multipart/${kind};`,
      `\tboundary="_000_AM0PR0${below(10)}MB${1000 + below(9000)}${token(HEX.toUpperCase(), 26)}eurprd0_"`,
    ],
    () => [`Content-Type: multipart/${kind}; boundary="--==_mimepart_${token(HEX, 20)}";`, ' charset=UTF-8'],
  ])()
}

function references(): string[] {
  if (below(3) > 0) return []
  const ids = Array.from({ length: 1 + below(4) }, id)
  return [`In-Reply-To: ${ids.at(-1)}`, `References: ${ids.join(pick([' ', '\r\n ', '\r\n\t']))}`]
}

function list(): string[] {
  const name = pick(['announce', 'users', 'dev', 'discuss', 'news'])
  const host = pick(['lists.example.org', 'googlegroups.com', 'lists.sourceforge.net', 'groups.io', 'example.com'])
  return pick([
    () => [
      'Precedence: list',
      `List-Id: ${name} <${name}.${host}>`,
      `List-Unsubscribe: <https://${host}/mailman/options/${name}>,`,
      ` <mailto:${name}-request@${host}?subject=unsubscribe>`,
      `List-Archive: <https://${host}/pipermail/${name}/>`,
      `List-Post: <mailto:${name}@${host}>`,
      `List-Subscribe: <https://${host}/mailman/listinfo/${name}>,`,
      ` <mailto:${name}-request@${host}?subject=subscribe>`,
    ],
    () => [
      `List-Unsubscribe: <https://click.${host}/unsubscribe?u=${token(HEX, 32)}&id=${token(HEX, 10)}>, <mailto:unsubscribe-${token(HEX, 24)}@${host}?subject=unsubscribe>`,
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      'Precedence: bulk',
    ],
    () => [`List-ID: <${name}.${host}>`, 'Precedence: bulk', 'Auto-Submitted: auto-generated'],
    () => [],
    () => [],
  ])()
}

function extras(): string[] {
  return pick([
    () => [
      `X-Mailer: ${pick(['Apple Mail (2.3654.120.0.1.13)', 'iPhone Mail (20A362)', 'Microsoft Outlook 16.0', 'PHPMailer 6.5.0 (https://github.com/PHPMailer/PHPMailer)', 'Amazon WorkMail', 'nodemailer', 'MailChimp Mailer - **CID**'])}`,
    ],
    () => [
      `User-Agent: ${pick(['Mozilla Thunderbird', 'Mozilla/5.0 (X11; Linux x86_64; rv:102.0) Gecko/20100101 Thunderbird/102.4.0', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:91.0) Gecko/20100101 Thunderbird/91.5.0', 'Mutt/1.10.1 (2018-07-13)', 'Roundcube Webmail/1.4.11', 'K-9 Mail for Android'])}`,
    ],
    () => [`X-Priority: ${pick(['3', '1 (Highest)', '3 (Normal)'])}`, 'Importance: Normal'],
    () => ['Auto-Submitted: auto-generated', 'Precedence: bulk'],
    () => [
      `X-Universally-Unique-Identifier: ${token(HEX.toUpperCase(), 8)}-${token(HEX.toUpperCase(), 4)}`,
      'X-Uniform-Type-Identifier: com.apple.mail-note',
    ],
    () => [`Disposition-Notification-To: ${person()}`, 'Organization: Example Ltd.'],
    () => [`Content-Language: ${pick(['en-US', 'de-DE', 'fr', 'en-GB'])}`],
    () => [`Sender: ${person()}`],
    () => [],
  ])()
}

function header(): string {
  const from = pick([person, sender])()
  const fields = [
    ...(below(3) === 0
      ? [`Return-Path: <${pick(['bounce', 'bounces+', 'return'])}${token(HEX, 8)}@${pick(HOSTS)}>`]
      : []),
    ...(below(4) === 0
      ? [
          `Delivered-To: ${pick(['user', 'name', 'info'])}@${pick(HOSTS)}`,
          `X-Original-To: ${pick(['user', 'name', 'info'])}@${pick(HOSTS)}`,
        ]
      : []),
    ...pick([
      () => [
        'MIME-Version: 1.0',
        ...references(),
        `From: ${from}`,
        `Date: ${date()}`,
        `Message-ID: ${id()}`,
        `Subject: ${subject()}`,
        `To: ${person()}`,
        ...contentType(),
      ],
      () => [
        `From: ${from}`,
        `To: ${person()}`,
        `Subject: ${subject()}`,
        `Date: ${date()}`,
        `Message-ID: ${id()}`,
        ...references(),
        'MIME-Version: 1.0',
        ...contentType(),
      ],
      () => [
        `Date: ${date()}`,
        `From: ${from}`,
        ...(below(2) ? [`Reply-To: ${person()}`] : []),
        `To: ${person()},`,
        `\t${person()}`,
        `Cc: ${person()}`,
        `Message-ID: ${id()}`,
        `Subject: ${subject()}`,
        'Mime-Version: 1.0',
        ...contentType(),
      ],
      () => [
        `Message-ID: ${id()}`,
        `Date: ${date()}`,
        'MIME-Version: 1.0',
        `To: ${person()}`,
        `From: ${from}`,
        `Subject: ${subject()}`,
        ...contentType(),
        ...references(),
      ],
    ])(),
    ...list(),
    ...extras(),
  ]
  return `${fields.join('\r\n')}\r\n`
}

const folder = process.argv[2]
if (folder === undefined) {
  console.error('node scripts/run.js scripts/header-samples.ts <folder>')
  process.exit(1)
}
mkdirSync(folder, { recursive: true })
for (let index = 0; index < COUNT; index++) writeFileSync(join(folder, `${index}`), header())
