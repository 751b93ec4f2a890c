// Worker thread of cleaner.ts: cleans HTML and large texts, and makes documents of messages; the only thread that loads the CSS parser.

import { cleanContent } from '../content/clean/clean.ts'
import { simpleHtml } from '../content/clean/simple-html.ts'
import { type CleanTask, sourceOf } from './clean-task.ts'

export default async (task: CleanTask) => {
  const cleaned = cleanContent(sourceOf(task), task.options)
  return task.isHtml === true ? { ...cleaned, content: await simpleHtml(cleaned.content) } : cleaned
}

export { viewOf as view } from './clean-view-task.ts'
