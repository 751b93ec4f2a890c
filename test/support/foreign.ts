// All messages of our own vectors, and of the fixtures where they are.

import { HOSTILE_HTML } from '../vectors/html.ts'
import { MESSAGES } from '../vectors/messages.ts'
import { fixtureBytes, fixtureJson, fixtureNames, fixtures } from './fixtures.ts'

/** A message as in its file. */
export interface ForeignMessage {
  name: string
  content: Buffer
}

function filesOf(folder: string, ending: string): ForeignMessage[] {
  return fixtureNames(folder, ending).map((name) => {
    const path = `${folder}/${name}`
    return { name: path, content: fixtureBytes(path) }
  })
}

/** A text or HTML of the suites as the body of a message. */
function wrapped(name: string, type: string, body: Buffer): ForeignMessage {
  const head = `From: Eve <eve@else.test>\r\nTo: ana@shop.test\r\nSubject: ${name.replaceAll('/', ' ')}\r\nMIME-Version: 1.0\r\n`
  const kind = `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n`
  return { name, content: Buffer.concat([Buffer.from(head + kind), body]) }
}

/** The messages of an mbox file: each begins with a line "From ". */
function ofMbox(path: string): ForeignMessage[] {
  const text = fixtureBytes(path).toString('latin1').replaceAll('\r\n', '\n')
  const mails = text.split(/(?:^|\n)From [^\n]*\n/).slice(1)
  return mails.map((mail, at) => ({ name: `${path}#${at}`, content: Buffer.from(mail, 'latin1') }))
}

const CLEAN = 'clean-content'
const OWN = 'vectors'
const FOREIGN: [string, () => ForeignMessage[]][] = [
  [
    'mime',
    () => [
      ...['enmime', 'mail-parser', 'ruby-mail', 'webklex', 'flanker', 'mailcore2'].flatMap((suite) => [
        ...filesOf(`mime/${suite}`, '.eml'),
        ...filesOf(`mime/${suite}`, '.raw'),
      ]),
      ...filesOf('mime/mime4j-testmsgs', '.msg'),
      ...filesOf('mime/mime4j-mimetools-testmsgs', '.msg'),
      ...filesOf('mime/python-email', '.txt'),
      ...filesOf('mime/mailcore2/parser/input', ''),
    ],
  ],
  [
    'html',
    () =>
      fixtureJson<{ payload: string }[]>('html/dompurify-expect.json').map(({ payload }, at) =>
        wrapped(`html/${at}`, 'text/html', Buffer.from(payload)),
      ),
  ],
  [
    'threading',
    () => [
      ...filesOf('threading/jwz-messages', '.eml'),
      ...fixtureNames('threading/ponymail', '.mbox').flatMap((name) => ofMbox(`threading/ponymail/${name}`)),
    ],
  ],
  [
    CLEAN,
    () => [
      ...filesOf(CLEAN, '.eml'),
      ...fixtureNames(CLEAN, '.txt').map((name) =>
        wrapped(`${CLEAN}/${name}`, 'text/plain', fixtureBytes(`${CLEAN}/${name}`)),
      ),
      ...fixtureNames(CLEAN, '.html').map((name) =>
        wrapped(`${CLEAN}/${name}`, 'text/html', fixtureBytes(`${CLEAN}/${name}`)),
      ),
    ],
  ],
  ['corpus', () => filesOf('corpus/spamassassin', '.txt')],
]

/** Messages by suite: ours, and the folders of the fixtures. */
export const SUITES: [string, () => ForeignMessage[]][] = [
  [
    OWN,
    () => [
      ...MESSAGES.map(({ name, content }) => ({ name, content })),
      ...HOSTILE_HTML.map((payload, at) => wrapped(`${OWN}/html/${at}`, 'text/html', Buffer.from(payload))),
    ],
  ],
  ...FOREIGN.filter(([suite]) => fixtures(suite) !== null),
]
