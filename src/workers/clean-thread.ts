// Worker thread of cleaner.ts: cleans HTML and large texts; the only thread that loads the CSS parser.

import { cleanContent } from '../content/clean/clean.ts'
import { type CleanTask, sourceOf } from './clean-task.ts'

export default (task: CleanTask) => cleanContent(sourceOf(task), task.options)
