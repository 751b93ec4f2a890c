// The thread in which HTML and large texts are cleaned; the only one that loads what reads style sheets.

import { cleanContent } from '../content/clean/clean.ts'
import { type CleanTask, sourceOf } from './clean-task.ts'

export default (task: CleanTask) => cleanContent(sourceOf(task), task.options)
