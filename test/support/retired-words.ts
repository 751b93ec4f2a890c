// Words and phrases that no sentence of the sources, the documents and the pages contains.

export const RETIRED_PROSE = /\b(?:whoever|nobody|somebody|anew|is told|becomes? of|became of)\b/i
