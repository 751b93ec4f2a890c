// Forged messages of our own: each tries to appear as mail of legitimate.com, which publishes SPF and DMARC.

/** What the forger sends, and what they sign with a key of their own. */
export interface Attack {
  id: string
  helo: string
  /** With its angle brackets. */
  mailfrom: string
  rcptto: string
  dkim_para?: { d: string; s: string; sign_header: string }
  data: Record<'from_header' | 'to_header' | 'subject_header' | 'other_headers' | 'body', string>
}

function attack(
  id: string,
  from: string,
  parts: Partial<Pick<Attack, 'helo' | 'mailfrom' | 'dkim_para'>> = {},
): Attack {
  const data = {
    from_header: from,
    to_header: 'To: <victim@victim.com>\r\n',
    subject_header: `Subject: ${id}\r\n`,
    other_headers: 'Date: Fri, 20 Nov 2026 12:00:00 +0000\r\nMessage-ID: <1@attack.com>\r\n\r\n',
    body: 'Please pay at once.\r\n',
  }
  return { id, helo: 'attack.com', mailfrom: '<any@attack.com>', rcptto: '<victim@victim.com>', ...parts, data }
}

const PLAIN = 'From: <admin@legitimate.com>\r\n'
const signed = (d: string) => ({ d, s: 'selector', sign_header: 'From: <admin@legitimate.com>' })

export const ATTACKS: readonly Attack[] = [
  attack('an author that the sender does not prove', PLAIN),
  attack('the null sender, with the name of the domain in HELO', PLAIN, { helo: 'legitimate.com', mailfrom: '<>' }),
  attack('two From fields, the own one first', `From: <any@attack.com>\r\n${PLAIN}`),
  attack('two From fields, the own one last', `${PLAIN}From: <any@attack.com>\r\n`),
  attack('two authors in one field', 'From: <any@attack.com>, <admin@legitimate.com>\r\n'),
  attack('a space before the colon', 'From : <admin@legitimate.com>\r\n'),
  attack('a folded field without its address in the first line', 'From:\r\n <admin@legitimate.com>\r\n'),
  attack('a route to the address', 'From: <@attack.com,@any.attack.com:admin@legitimate.com>\r\n'),
  attack('an encoded author', 'From: =?utf-8?Q?=3Cadmin=40legitimate.com=3E?=, <any@attack.com>\r\n'),
  attack('an author with a NUL', 'From: <any@attack.com>\0, <admin@legitimate.com>\r\n'),
  attack('a signature of a domain below the own one', PLAIN, { dkim_para: signed('legitimate.com.attack.com') }),
  attack('a signature whose domain ends the result', PLAIN, { dkim_para: signed("legitimate.com'a.attack.com") }),
  attack('a sender whose domain ends the result', PLAIN, { mailfrom: "<any@legitimate.com'@any.attack.com>" }),
  attack('a sender with a comment', PLAIN, { mailfrom: '<(any@legitimate.com>' }),
]
