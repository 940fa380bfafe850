// swift-tools-version: 6.2
import PackageDescription

/// Targets by folder: name, settings (the words of `settings(_:)`) and what they use, a line each or behind a semicolon.
/// `?` is behind what needs the trait SoundOutput. Programs are written in small letters. Tests use TestSupport and the
/// module of their name, too.
let all = table(
  """
  Sources/
  CALSA c CLateLibrary; CEBUR128 c CLateLibrary; CExpat c CLateLibrary; CKissFFT c CLateLibrary; CLateLibrary c
  CSampleKernels c; CSampleRate c CLateLibrary; CShippedFiles c; CSndFile c CLateLibrary
  CUInput c; CVirtualTime c
  HapticModel core CMath; Reading core; RealtimeMemory fast; ShippedFiles plain CShippedFiles; SystemSupport plain CMath
  SignalAnalysis core CEBUR128 CKissFFT CMath; CommandLineKit plain SystemSupport
  HapticFormats core HapticModel Reading; VendorFormats plain CExpat? CMath HapticFormats HapticModel Reading
  HapticRender fast CMath CSampleKernels HapticModel RealtimeMemory
  HapticPlayback core HapticModel HapticRender RealtimeMemory
  SoundFile core CSampleKernels CSampleRate? CSndFile? SystemSupport
  HapticOutputs plain CALSA HapticPlayback SoundFile SystemSupport
  TransducerProfiles plain CMath HapticModel HapticRender Reading ShippedFiles
  PatternRules core HapticModel HapticRender Reading SystemSupport
  SignalPlots core CCairo CMath HapticModel HapticRender SignalAnalysis
  PatternComparison core CMath HapticModel HapticRender Reading SignalAnalysis SystemSupport
  SoundFollowing core CMath; SoundTracing core CMath HapticModel HapticRender SignalAnalysis
  TransducerCalibration core CMath HapticRender SignalAnalysis SystemSupport
  ReviewPages core HapticModel HapticRender PatternComparison Reading ShippedFiles SignalAnalysis SignalPlots \
    SoundFile SystemSupport
  PatternWorkflows plain HapticFormats HapticModel HapticRender PatternComparison PatternRules Reading ShippedFiles \
    SignalAnalysis SoundFile SystemSupport TransducerProfiles VendorFormats
  TemblorCommands plain CUInput CommandLineKit HapticFormats HapticModel HapticOutputs HapticPlayback HapticRender \
    PatternComparison PatternRules PatternWorkflows Reading ReviewPages ShippedFiles SignalAnalysis SignalPlots \
    SoundFile SoundFollowing SoundTracing SystemSupport TransducerCalibration TransducerProfiles VendorFormats
  StudioCore core CMath HapticFormats HapticModel HapticRender PatternRules Reading RealtimeMemory SignalAnalysis \
    SoundTracing TransducerProfiles VendorFormats
  TemblorLibrary plain CLateLibrary CommandLineKit HapticModel HapticOutputs HapticPlayback HapticRender Reading StudioCore \
    TemblorCommands
  Temblor plain HapticFormats HapticModel HapticOutputs HapticPlayback HapticRender PatternComparison PatternRules \
    PatternWorkflows Reading ReviewPages ShippedFiles SignalAnalysis SignalPlots SoundFile SoundFollowing SoundTracing \
    SystemSupport TransducerCalibration TransducerProfiles VendorFormats
  CoreHaptics strict AVFAudio Combine HapticFormats HapticModel HapticOutputs? HapticPlayback HapticRender Reading SoundFile \
    TransducerProfiles?
  CoreHapticsTesting strict CoreHaptics HapticFormats HapticModel HapticRender
  HapticTesting strict CVirtualTime CoreHaptics CoreHapticsTesting
  HapticManagement strict CoreHaptics HapticFormats HapticModel ShippedFiles
  temblor plain TemblorCommands
  temblor-bench strict CoreHaptics HapticFormats HapticModel HapticRender Reading ShippedFiles SoundFile \
    SystemSupport VendorFormats
  Sources/AppleNames/
  AVFAudio strict SoundFile; AVFoundation strict AVFAudio; Combine strict; QuartzCore strict AVFAudio; os strict
  AppKit strict HapticManagement; AudioToolbox strict CoreHaptics HapticManagement; WatchKit strict HapticManagement
  GameController strict CoreHaptics; SwiftUI strict HapticManagement UIKit
  _Testing_AppKit strict; _Testing_UIKit strict
  UIKit strict Combine CoreHaptics HapticManagement QuartzCore
  Examples/
  earthready-drill strict CoreHaptics CoreHapticsTesting HapticManagement
  RunCoach/Sources/RunCoach client CoreHaptics UIKit; RunCoach/Tests/RunCoachTests strict HapticTesting
  Tests/
  CFaultyPCM c CALSA; CRealtimeGuard c; TestSupport core ShippedFiles VendorFormats HapticRender
  FaultyPCM strict CFaultyPCM HapticOutputs; PlayRig strict HapticFormats HapticPlayback ShippedFiles
  play-probe strict HapticOutputs PlayRig; terminal-probe strict CommandLineKit HapticPlayback
  ALSAPlaybackTests strict FaultyPCM PlayRig; CoreHapticsTests strict HapticTesting; ProjectTests strict
  CoreHapticsClientTests client AVFoundation AppKit AudioToolbox Combine GameController HapticTesting QuartzCore \
    SwiftUI UIKit WatchKit _Testing_AppKit _Testing_UIKit os
  EarthReadyDrillTests strict earthready-drill; HapticFormatsTests strict PatternRules; HapticModelTests strict
  HapticManagementTests strict HapticTesting; HapticOutputsTests strict FaultyPCM; HapticPlaybackTests strict
  HapticRenderTests strict; HapticTestingTests races HapticManagement UIKit _Testing_UIKit
  LibraryTests strict Temblor; PatternComparisonTests strict SoundFile TransducerProfiles; PatternRulesTests strict CoreHaptics
  PatternWorkflowsTests strict; ReadingTests strict; RealtimeTests strict CRealtimeGuard; ReviewPagesTests strict
  SamplesTests strict TemblorCommands; ServerTests strict PlayRig SoundFile play-probe; SignalPlotsTests strict
  SignalAnalysisTests strict HapticRender; SoundFileTests strict; StudioCoreTests strict PatternWorkflows
  SoundFollowingTests strict; SoundTracingTests strict TransducerProfiles; SystemSupportTests strict
  TemblorCommandsTests strict temblor terminal-probe; TemblorTests strict SoundFile temblor
  TemblorLibraryTests strict HapticPlayback StudioCore; TransducerCalibrationTests strict; TransducerProfilesTests strict; UIKitTests strict HapticTesting _Testing_UIKit
  """)

typealias Row = (name: String, path: String, settings: String, uses: [String])
func table(_ text: String) -> [Row] {
  var folder = ""
  return text.split { $0 == "\n" || $0 == ";" }.compactMap { row in
    let words = row.split(separator: " ").map(String.init)
    if words.count == 1 { folder = words[0] }
    let name = words[0].split(separator: "/").last.map(String.init) ?? ""
    return words.count == 1 ? nil : (name, folder + words[0], words[1], Array(words[2...]))
  }
}

// TEMBLOR_TESTS="HapticRender Reading" builds these tests alone, with what they use.
let chosen = Context.environment["TEMBLOR_TESTS"]?.split(separator: " ").map(String.init)
let kept = all.reversed().reduce(into: Set((chosen ?? []).flatMap { [$0, "\($0)Tests"] } + ["TestSupport"])) {
  if $0.contains($1.name) { $0.formUnion($1.uses.map { $0.filter { $0 != "?" } }) }
}
let rows = chosen == nil ? all : all.filter { kept.contains($0.name) }

// For Tools/release.
let isSmall = Context.environment["TEMBLOR_SMALL"] != nil
let isRoot = Context.environment["PWD"] == Context.packageDirectory
func settings(_ word: String) -> [SwiftSetting] {
  let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .strictMemorySafety(), .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
  ]
  func flags(_ flags: String, _ configuration: BuildConfiguration) -> SwiftSetting {
    .unsafeFlags(flags.split(separator: " ").map(String.init), .when(configuration: configuration))
  }
  // Regular expressions and tasks, which the program does not use, are 2 MB of the Swift runtime within it.
  let lean = SwiftSetting.unsafeFlags(
    ["string-processing", "concurrency"].flatMap { ["-Xfrontend", "-disable-implicit-\($0)-module-import"] })
  // Packages that depend on this one may not see flags.
  switch isRoot || word == "client" ? word : "strict" {
  case "client": return [.swiftLanguageMode(.v5)]
  // What computes is optimised in debug builds too, with its assertions: tests take a third of the time. A small program
  // stays fast in what renders.
  case "core", "fast":
    let size = isSmall && word == "core" ? "-Osize " : ""
    return strict + [lean, flags("-O -assert-config Debug", .debug), flags(size + "-Xfrontend -gnone", .release)]
  // What neither renders, measures, draws nor reads in bulk is built in half the time without the optimiser, or small.
  case "plain": return strict + [lean, flags("\(isSmall ? "-Osize" : "-Onone") -Xfrontend -gnone", .release)]
  // As the guide says for tests that check the rule of handlers.
  case "races": return strict + [flags("-enable-actor-data-race-checks", .debug)]
  default: return isRoot ? strict + [flags("-Xfrontend -gnone", .release)] : strict
  }
}

func target(_ row: Row) -> Target {
  let (name, path, settings) = (row.name, row.path, settings(row.settings))
  let tested = name.hasSuffix("Tests") ? ["TestSupport", String(name.dropLast(5))] : []
  let uses = (row.uses + tested.filter { use in rows.contains { $0.name == use } }).map { use -> Target.Dependency in
    guard use.hasSuffix("?") else { return .target(name: use) }
    return .target(name: String(use.dropLast()), condition: .when(traits: ["SoundOutput"]))
  }
  // What stands in a target's folder beside its sources.
  let beside = [
    "HapticFormatsTests": "Fixtures", "ReviewPages": "Page", "RunCoachTests": "__Haptics__",
    "SignalAnalysisTests": "Independent", "StudioCoreTests": "Module",
    "TemblorTests": "FaultPlugIn", "play-probe": "soak",
  ]
  let exclude = beside[name].map { [$0] } ?? []
  switch name {
  case "CSampleKernels" where isRoot:
    return .target(name: name, path: path, cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))])
  case _ where row.settings == "c": return .target(name: name, dependencies: uses, path: path)
  case _ where name.hasSuffix("Tests"):
    return .testTarget(name: name, dependencies: uses, path: path, exclude: exclude, swiftSettings: settings)
  case _ where name.first?.isLowercase == true && name != "os":
    // A table of its own symbols, for nobody, is a tenth of what a start takes.
    let flags = ["-Xlinker", "-no-export-dynamic", "-Xlinker", "-s"]
    return .executableTarget(
      name: name, dependencies: uses, path: path, exclude: exclude, swiftSettings: settings,
      linkerSettings: [.unsafeFlags(flags, .when(configuration: .release))])
  default: return .target(name: name, dependencies: uses, path: path, exclude: exclude, swiftSettings: settings)
  }
}

func library(_ name: String, _ more: String...) -> Product { .library(name: name, targets: [name] + more) }
let appleNames = [
  "AVFAudio", "AVFoundation", "AudioToolbox", "Combine", "GameController", "QuartzCore", "SwiftUI", "WatchKit", "os",
]
let products: [Product] = [
  library("Temblor"), library("HapticRender", "HapticModel", "HapticPlayback"), library("HapticTesting"),
  library("CoreHaptics", "CoreHapticsTesting"), library("HapticManagement"), library("UIKit", "_Testing_UIKit"),
  library("AppKit", "_Testing_AppKit"),
  // For Fuzz/run alone, which reaches into them; no interface for programs.
  library("CommandLineKit", "TemblorCommands"), .executable(name: "temblor", targets: ["temblor"]),
]
// For Tools/library.
let dynamic = Product.library(name: "TemblorLibrary", type: .dynamic, targets: ["TemblorLibrary"])
let isLibrary = Context.environment["TEMBLOR_LIBRARY"] != nil
let package = Package(
  name: "Temblor",
  products: isLibrary ? [dynamic] : chosen == nil ? products + appleNames.map { library($0) } : [],
  traits: [
    .trait(name: "SoundOutput", description: "ALSA devices, profiles, XML, and sound files other than PCM WAV."),
    .default(enabledTraits: ["SoundOutput"]),
  ],
  targets: [.systemLibrary(name: "CMath"), .systemLibrary(name: "CCairo")] + rows.map(target))
