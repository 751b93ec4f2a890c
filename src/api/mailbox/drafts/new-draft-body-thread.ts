// The thread that reads large new drafts.

import { inThread } from '../../../http/large-body.ts'
import { newDraftReader } from './draft-body.ts'

export default inThread(newDraftReader)
