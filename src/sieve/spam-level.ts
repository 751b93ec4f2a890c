// The level of spam that `spamtest` compares (RFC 5235 §2.2). It is known when the message is stored, so that scripts ask for it as for ids.

/** Levels: 1 is clean, 10 is spam. Every message is scored, so that 0 (not tested) does not occur. */
export const LEAST_SPAM = 1
const HIGHEST = 10
/** From this level on a message goes to Junk without a script. */
const JUNK_LEVEL = 6
const PREFIX = 'spam '

/** Where a message is on the scale; `junkScore` is the score from which it goes to Junk. */
export function spamLevel({ score, isSpam }: { score: number; isSpam: boolean }, junkScore: number): number {
  const steps = Math.floor((Math.max(score, 0) / junkScore) * (JUNK_LEVEL - LEAST_SPAM))
  const level = Math.min(LEAST_SPAM + steps, HIGHEST)
  return isSpam ? Math.max(level, JUNK_LEVEL) : Math.min(level, JUNK_LEVEL - 1)
}

/** Whether an id asks for the level, and if so whether the level is at least what it asks for; null for any other id. */
export function levelAnswer(id: string, level: number): boolean | null {
  return id.startsWith(PREFIX) ? level >= Number(id.slice(PREFIX.length)) : null
}

/** The level as far as the answers tell, or the id of the next question: four halve the scale. */
export function askedLevel(answers: ReadonlyMap<string, boolean>): { level: number } | { ask: string } {
  let [low, high] = [LEAST_SPAM, HIGHEST]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const ask = `${PREFIX}${middle}`
    const isReached = answers.get(ask)
    if (isReached === undefined) return { ask }
    if (isReached) low = middle
    else high = middle - 1
  }
  return { level: low }
}

/** How many of the questions of a run are not for the level. */
export function idQuestions(answers: ReadonlyMap<string, boolean>): number {
  return [...answers.keys()].filter((id) => !id.startsWith(PREFIX)).length
}
