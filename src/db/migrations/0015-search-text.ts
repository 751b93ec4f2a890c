// How text is cut into words for the search.

import { statements } from '../migrate.ts'

export const searchTextTables = statements(15, 'search-text', '')
