/**
 * Text without case, diacritics and compatibility forms: "Ｃａｆé" and "CAFE" are both "cafe". Only the marks of Latin,
 * Greek, Cyrillic, Hebrew and Arabic are dropped: in Indic scripts marks are vowels, in kana they make another letter.
 */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (!notAscii.test(lower)) return lower;
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(diacritics, '')
    .replace(undecomposed, (letter) => replacements[letter]!)
    .normalize('NFC');
}

const notAscii = /[^\x00-\x7f]/;
const diacritics = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/g;

// Letters that Unicode does not decompose, and that people type without.
const replacements: Readonly<Record<string, string>> = {
  ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ı: 'i', ς: 'σ',
};
const undecomposed = new RegExp(`[${Object.keys(replacements).join('')}]`, 'g');
