// Codes of SMTP inside running text: where a server's words were pasted into a sentence.

/** RFC 3463. No part of an IP address, a version or a date. */
const ENHANCED = /(?<![\w./-])#?([245]\.\d{1,3}\.\d{1,3})(?![\w]|\.\d)/
/** A reply with its enhanced code behind it: nothing else looks like that. */
const PAIR = /(?<![\w.:/])([245]\d\d)[ -:]{1,3}(?:<[^>]{0,255}> )?#?([245]\.\d{1,3}\.\d{1,3})(?![\w]|\.\d)/
/** A reply code at the start of a line, or behind a word that announces it. */
const ANNOUNCED =
  /(?:^|\n)[ \t]*(?:[<>]{1,3} ?)?([245][0-5]\d)(?=[\s\-:](?!\d))|(?:said|smtp;|error(?:_code)?|code|reason|replied|response|returned was|responded(?: as follows)?|failed with|status|data|command|from remote [\w ]{1,40}?)[ :;[("'-]{1,4}([245][0-5]\d)(?=[\s\-:,;)\]]|$)/i
/** A reply code anywhere, with words behind it. */
const LOOSE = /(?<![\w.:/@#-])([245][0-5]\d)(?=[ -] ?[A-Za-z<"#])/

export interface Codes {
  smtpCode: number | null
  enhancedCode: string | null
  /** Where the reply starts in the text, -1 when none was found. */
  at: number
}

/** Looks for the reply that says most. Linear, never throws. */
export function findCodes(text: string): Codes {
  const pair = PAIR.exec(text)
  const reply = pair ?? ANNOUNCED.exec(text) ?? LOOSE.exec(text)
  const code = reply?.[1] ?? (pair ? undefined : reply?.[2])
  const enhanced = pair?.[2] ?? ENHANCED.exec(text)?.[1] ?? null
  return {
    smtpCode: code === undefined ? null : Number(code),
    enhancedCode: enhanced,
    at: reply && code !== undefined ? reply.index + reply[0].indexOf(code) : -1,
  }
}

/** "5.0.0" and its like say no more than that it failed. */
export function isGeneric(enhancedCode: string): boolean {
  return enhancedCode.endsWith('.0.0')
}
