export interface EntityExtractor {
  /**
   * Names, dates, amounts of money, e-mail addresses and URLs in each content: distinct, in order of first appearance, at
   * most 100 of at most 100 characters.
   */
  extract(contents: readonly string[]): Promise<string[][]>;
  close(): Promise<void>;
}
