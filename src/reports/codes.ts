// Finds SMTP reply codes and enhanced status codes in running text.

/** RFC 3463. Not part of an IP address, a version or a date. */
const ENHANCED = /(?<![\w./-])#?([245]\.\d{1,3}\.\d{1,3})(?![\w]|\.\d)/
/** A reply code followed by its enhanced code: unambiguous. */
const PAIR = /(?<![\w.:/])([245]\d\d)[ -:]{1,3}(?:<[^>]{0,255}> )?#?([245]\.\d{1,3}\.\d{1,3})(?![\w]|\.\d)/
/** A reply code at the start of a line, or after a word that introduces it. */
const ANNOUNCED =
  /(?:^|\n)[ \t]*(?:[<>]{1,3} ?)?([245][0-5]\d)(?=[\s\-:](?!\d))|(?:said|smtp;|error(?:_code)?|code|reason|replied|response|returned was|responded(?: as follows)?|failed with|status|data|command|from remote [\w ]{1,40}?)[ :;[("'-]{1,4}([245][0-5]\d)(?=[\s\-:,;)\]]|$)/i
/** A reply code anywhere, followed by words. */
const LOOSE = /(?<![\w.:/@#-])([245][0-5]\d)(?=[ -] ?[A-Za-z<"#])/

export interface Codes {
  smtpCode: number | null
  enhancedCode: string | null
  /** Offset of the reply in the text, -1 when none was found. */
  at: number
}

/** Finds the most specific reply. Linear, never throws. */
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

/** "5.0.0" and similar codes say only that delivery failed. */
export function isGeneric(enhancedCode: string): boolean {
  return enhancedCode.endsWith('.0.0')
}
