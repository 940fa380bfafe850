import TestSupport
import Testing

@testable import VendorFormats

/// The reader without libexpat gives the trees of libexpat, and rejects the texts that it rejects.
@Suite struct XMLReaderTests {
  private static let samples = [
    "<a/>", "<a></a>", "<a  b = 'c'\n d=\"e\" />", "<a><b/><b x='1'><c/></b></a>",
    "\u{FEFF}<?xml version='1.0' encoding='UTF-8'?>\n<!-- one --><a><!-- two - 2 --></a><!---->\n",
    "<a b='&lt;&gt;&amp;&quot;&apos;&#65;&#x20AC;&#x1F600;'/>", "<a b='x\ty\r\nz\rw'/>",
    "<é ü='ä'>\n\t<_x.y-z:q/>\r\n</é>", "<a><![CDATA[ \n]]></a>", "<?pi some data?><a/><?pi?>",
    "<a b='\"' c=\"'\"></a >",
    "<vibration-effect><primitive-effect name=\"tick\"/></vibration-effect>",
  ]
  private static let rejectedTexts = [
    "", " ", "<", "<a", "<a>", "<a/", "<a></b>", "</a>", "<a/><b/>", "a<b/>", "<a/>x", "<a>x</a>",
    "<a><![CDATA[x]]></a>", "<a b/>", "<a b=c/>", "<a b='c/>", "<a b='c'd='e'/>", "<a b='' b=''/>",
    "<a b='<'/>", "<a b='&x;'/>", "<a b='&amp'/>", "<a b='&#0;'/>", "<a b='&#xD800;'/>",
    "<a b='&#1;'/>", "<a b='&#65536000;'/>", "<!-- a -- b --><a/>", "<!-- a ---><a/>", "<!--><a/>",
    "<!DOCTYPE a><a/>", " <?xml version='1.0'?><a/>", "<?XML?><a/>", "<1/>", "<a 1='x'/>",
    "<a\u{1}/>", "<a b='\u{1}'/>", "<![CDATA[]]><a/>", "<a>]]></a>", "<a><![CDATA[ </a>",
    "<a b='&#+65;'/>", "<a b='&#x-41;'/>", "< a/>", "<a / >", "<?pi <a/>",
  ]

  /// Returns the trees as text, or nil for a rejected text.
  private func read(_ text: [UInt8]) -> String? {
    var reader = XMLReader(
      textBytes: text, keepsComments: true, maximumElementDepth: XMLTree.sizeLimits.depth)
    return (try? reader.read()).map { "\($0)" }
  }

  private func expected(_ text: [UInt8]) -> String? {
    (try? XMLTree(text, keepsComments: true)).map { "\($0.topLevelItems)" }
  }

  @Test("Accepted texts give equal trees", arguments: samples)
  func acceptedTextsGiveEqualTrees(_ sample: String) {
    let tree = read(Array(sample.utf8))
    #expect(tree != nil && tree == expected(Array(sample.utf8)))
  }

  @Test("Invalid texts are rejected", arguments: rejectedTexts)
  func invalidTextsAreRejected(_ text: String) {
    #expect(read(Array(text.utf8)) == nil && expected(Array(text.utf8)) == nil)
  }

  @Test("The depth is limited")
  func depthIsLimited() {
    for (depth, isAccepted) in [(32, true), (33, false)] {
      let text =
        String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
      #expect((read(Array(text.utf8)) != nil) == isAccepted)
      #expect((expected(Array(text.utf8)) != nil) == isAccepted)
    }
  }

  @Test("Damaged texts are read or rejected alike", arguments: [1, 2, 3] as [UInt64])
  func damagedTextsAreReadAlike(_ seed: UInt64) {
    var mutator = InputMutator(
      seed: seed, words: ["<", ">", "/>", "&", ";", "'", "\"", "<!--", "-->", "<?", "?>", "&lt;"])
    var differingTexts: [String] = []
    for index in 0..<InputMutator.caseCount(default: 2_000) {
      let text = mutator.mutated(Array(Self.samples[index % Self.samples.count].utf8))
      // libexpat accepts fewer names outside of ASCII, and more than one encoding.
      guard text.allSatisfy({ $0 < 0x80 }), !text.starts(with: [0]) else { continue }
      if read(text) != expected(text) {
        differingTexts.append(String(decoding: text, as: UTF8.self))
      }
    }
    #expect(differingTexts == [])
  }
}
