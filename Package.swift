// swift-tools-version: 6.2
import PackageDescription

/// Modules by name, settings (below) and what they use, bottom up; `?` is behind what needs the trait SoundOutput.
/// Rows end with their line or at a semicolon.
let modules = table(
  """
  HapticModel core CMath
  Reading core
  RealtimeMemory core
  ShippedFiles plain CShippedFiles
  SystemSupport plain
  SignalAnalysis core CEBUR128 CKissFFT CMath
  CommandLineKit plain SystemSupport
  HapticFormats core HapticModel Reading
  VendorFormats core CExpat? CMath HapticFormats HapticModel Reading
  HapticRender core CMath CSampleKernels HapticModel RealtimeMemory
  HapticPlayback core HapticModel HapticRender RealtimeMemory
  SoundFile core CSampleKernels CSampleRate? CSndFile? SystemSupport
  HapticOutputs plain CALSA HapticPlayback SoundFile SystemSupport
  TransducerProfiles plain CMath HapticModel HapticRender Reading ShippedFiles
  PatternRules plain HapticModel HapticRender Reading SystemSupport
  SignalPlots core CCairo CMath HapticModel HapticRender SignalAnalysis
  PatternComparison core CMath HapticModel HapticRender Reading SignalAnalysis SystemSupport
  TransducerCalibration core CMath HapticRender SignalAnalysis SystemSupport
  ReviewPages plain HapticModel HapticRender PatternComparison Reading ShippedFiles SignalAnalysis SignalPlots \
    SoundFile SystemSupport
  PatternWorkflows plain HapticFormats HapticModel HapticRender PatternComparison PatternRules Reading ShippedFiles \
    SignalAnalysis SoundFile SystemSupport TransducerProfiles VendorFormats
  TemblorCommands plain CommandLineKit HapticFormats HapticModel HapticOutputs HapticPlayback HapticRender \
    PatternComparison PatternRules PatternWorkflows Reading ReviewPages ShippedFiles SignalAnalysis SignalPlots \
    SoundFile SystemSupport TransducerCalibration TransducerProfiles VendorFormats
  Temblor plain HapticFormats HapticModel HapticOutputs HapticPlayback HapticRender PatternComparison PatternRules \
    PatternWorkflows Reading ReviewPages ShippedFiles SignalAnalysis SignalPlots SoundFile SystemSupport \
    TransducerCalibration TransducerProfiles VendorFormats
  CoreHaptics strict AVFAudio HapticFormats HapticModel HapticOutputs? HapticPlayback HapticRender Reading SoundFile \
    TransducerProfiles?
  CoreHapticsTesting strict CoreHaptics HapticFormats HapticModel HapticRender
  HapticTesting strict CoreHaptics CoreHapticsTesting
  HapticManagement strict CoreHaptics HapticFormats HapticModel ShippedFiles
  """)

/// Modules under Apple's names, with only what haptic code touches.
let appleNames = table(
  """
  AVFAudio strict; AVFoundation strict AVFAudio; SwiftUI strict; os strict; _Testing_UIKit strict
  AudioToolbox strict CoreHaptics HapticManagement; GameController strict CoreHaptics
  UIKit strict CoreHaptics HapticManagement
  """)

/// Examples, programs (in small letters) and what tests are built on, by folder.
let others = table(
  """
  Sources/temblor plain TemblorCommands
  Sources/temblor-bench strict CoreHaptics HapticFormats HapticModel HapticRender Reading ShippedFiles SoundFile \
    SystemSupport VendorFormats
  Examples/RunCoach/Sources/RunCoach client CoreHaptics UIKit
  Examples/earthready-drill strict CoreHaptics CoreHapticsTesting HapticManagement
  Tests/TestSupport core HapticFormats HapticModel HapticRender Reading ShippedFiles VendorFormats
  Tests/FaultyPCM strict CFaultyPCM HapticOutputs HapticPlayback SoundFile
  Tests/PlayRig strict HapticFormats HapticModel HapticPlayback ShippedFiles
  Tests/play-probe strict HapticOutputs HapticPlayback HapticRender PlayRig
  Tests/terminal-probe strict CommandLineKit HapticPlayback SystemSupport
  """)

/// Tests by module, with what they use beside TestSupport, that module and what both use.
let tests = table(
  """
  ALSAPlayback strict FaultyPCM PlayRig; CoreHaptics strict HapticTesting; EarthReadyDrill strict earthready-drill
  CoreHapticsClient client AVFoundation AudioToolbox GameController HapticTesting SwiftUI UIKit _Testing_UIKit os
  HapticFormats strict PatternRules; HapticManagement strict HapticTesting; HapticModel strict
  HapticOutputs strict FaultyPCM; HapticPlayback strict; HapticRender strict; Library strict Temblor
  HapticTesting races HapticManagement UIKit _Testing_UIKit; PatternComparison strict SoundFile
  PatternRules strict CoreHaptics; PatternWorkflows strict; Project strict; Reading strict
  Realtime strict CRealtimeGuard; ReviewPages strict; RunCoach strict HapticTesting; Samples strict TemblorCommands
  Server strict PlayRig SoundFile play-probe; SignalAnalysis strict HapticRender; SignalPlots strict; SoundFile strict
  SystemSupport strict; Temblor strict SoundFile temblor; TemblorCommands strict temblor terminal-probe
  TransducerCalibration strict; TransducerProfiles strict; UIKit strict HapticTesting _Testing_UIKit
  """)

/// Whether this package itself is built: what depends on it may not see flags.
let isRoot = Context.environment["PWD"] == Context.packageDirectory

/// The settings of a module by the word of the tables.
func settings(_ word: String) -> [SwiftSetting] {
  if word == "client" { return [.swiftLanguageMode(.v5)] }
  let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
  ]
  switch isRoot ? word : "strict" {
  // What computes is optimised in debug builds too, with its assertions: tests take a third of the time.
  case "core":
    return strict + [
      .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)),
      .unsafeFlags(["-gnone"], .when(configuration: .release)),
    ]
  // What neither renders, measures, draws nor reads in bulk is built in half the time without the optimiser.
  case "plain": return strict + [.unsafeFlags(["-Onone", "-gnone"], .when(configuration: .release))]
  // As the guide says for tests that check the rule of handlers.
  case "races": return strict + [.unsafeFlags(["-enable-actor-data-race-checks"])]
  default: return strict
  }
}

func table(_ text: String) -> [(name: String, settings: String, uses: [String])] {
  text.split { $0 == "\n" || $0 == ";" }.map { row in
    let words = row.split(separator: " ").map(String.init)
    return (words[0], words[1], Array(words[2...]))
  }
}

func target(_ row: (name: String, settings: String, uses: [String]), in folder: String, isTest: Bool = false) -> Target
{
  let path = folder + row.name + (isTest ? "Tests" : "")
  let name = String(path.split(separator: "/").last ?? "")
  var uses = row.uses.map { use -> Target.Dependency in
    use.hasSuffix("?")
      ? .target(name: String(use.dropLast()), condition: .when(traits: ["SoundOutput"])) : .target(name: use)
  }
  let beside = [
    "ReviewPages": "Page", "RunCoachTests": "__Haptics__", "SignalAnalysisTests": "Independent",
    "TemblorTests": "FaultPlugIn", "play-probe": "soak",
  ]
  let exclude = beside[name].map { [$0] } ?? []
  if isTest {
    if (modules + appleNames + others).contains(where: { $0.name.hasSuffix(row.name) }) {
      uses += [.target(name: row.name)]
    }
    return .testTarget(
      name: name, dependencies: uses + (row.settings == "strict" ? ["TestSupport"] : []), path: path, exclude: exclude,
      resources: name == "HapticFormatsTests" ? [.copy("Fixtures")] : [], swiftSettings: settings(row.settings))
  }
  guard name.first?.isLowercase == true, name != "os" else {
    return .target(name: name, dependencies: uses, path: path, exclude: exclude, swiftSettings: settings(row.settings))
  }
  return .executableTarget(
    name: name, dependencies: uses, path: path, exclude: exclude, swiftSettings: settings(row.settings),
    // A table of its own symbols, for nobody, is a tenth of what a start takes.
    linkerSettings: [
      .unsafeFlags(["-Xlinker", "-no-export-dynamic", "-Xlinker", "-s"], .when(configuration: .release))
    ])
}

func product(_ name: String, _ targets: String...) -> Product { .library(name: name, targets: [name] + targets) }

let package = Package(
  name: "Temblor",
  products: [
    product("Temblor"), product("HapticRender", "HapticModel", "HapticPlayback"),
    product("CoreHaptics", "CoreHapticsTesting"), product("HapticTesting"), product("HapticManagement"),
    product("UIKit", "_Testing_UIKit"), .executable(name: "temblor", targets: ["temblor"]),
    // For Fuzz/run alone, which reaches into them; no interface for programs.
    .library(name: "_TemblorFuzzing", targets: ["CommandLineKit", "TemblorCommands"]),
  ] + appleNames.filter { !$0.name.hasSuffix("UIKit") }.map { product($0.name) },
  traits: [
    .trait(
      name: "SoundOutput",
      description: """
        Plays to ALSA devices, reads sound files, XML and profiles; needs the headers of ALSA, libsndfile, libsamplerate \
        and libexpat. Without it engines play on virtual devices, and sound files are PCM WAV.
        """), .default(enabledTraits: ["SoundOutput"]),
  ],
  targets: [
    .systemLibrary(name: "CMath"),
    // Loaded when a picture is drawn: headers only.
    .systemLibrary(name: "CCairo", providers: [.apt(["libcairo2-dev"])]),
    .target(
      name: "CSampleKernels", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))].filter { _ in isRoot }),
    .target(name: "CShippedFiles"), .target(name: "CLateLibrary"),
    .target(name: "CRealtimeGuard", path: "Tests/CRealtimeGuard"),
    .target(
      name: "CFaultyPCM", dependencies: ["CALSA"], path: "Tests/CFaultyPCM", linkerSettings: [.linkedLibrary("asound")]),
  ]
    // Libraries of others, loaded at the first call of one of their functions; the headers come with their packages.
    + ["CALSA", "CEBUR128", "CExpat", "CKissFFT", "CSampleRate", "CSndFile"].map {
      .target(name: $0, dependencies: ["CLateLibrary"])
    }
    + modules.map { target($0, in: "Sources/") } + appleNames.map { target($0, in: "Sources/AppleNames/") }
    + others.map { target($0, in: "") }
    + tests.map { target($0, in: $0.name == "RunCoach" ? "Examples/RunCoach/Tests/" : "Tests/", isTest: true) })

// TEMBLOR_TESTS="HapticRender Reading" builds these tests alone, with what they use.
if let chosen = Context.environment["TEMBLOR_TESTS"] {
  var kept: Set<String> = []
  func keep(_ name: String) {
    guard kept.insert(name).inserted else { return }
    for case .targetItem(let use, _) in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
      keep(use)
    }
    for case .byNameItem(let use, _) in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
      keep(use)
    }
  }
  for name in chosen.split(separator: " ") { keep("\(name)Tests") }
  package.products = []
  package.targets.removeAll { !kept.contains($0.name) }
}
