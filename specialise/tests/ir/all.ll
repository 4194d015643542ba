; One of nearly everything that can be read, as clang 19 spells it.
source_filename = "all.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.pair = type { i32, %union.u }
%union.u = type { [2 x double] }
%struct.unknown = type opaque

$shared = comdat any

@table = internal unnamed_addr constant [2 x %struct.pair] [%struct.pair { i32 -1, %union.u zeroinitializer }, %struct.pair { i32 2, %union.u { [2 x double] [double 1.500000e+00, double 0x7FF8000000000000] } }], align 16
@text = private unnamed_addr constant [6 x i8] c"a\5C\22\0A\FF\00", section ".rodata", align 1
@inner = dso_local global ptr getelementptr inbounds (i8, ptr @table, i64 24), align 8
@wide = global i64 ptrtoint (ptr getelementptr inbounds ([2 x %struct.pair], ptr @table, i64 0, i64 1) to i64)
@packed = global <{ i8, i32, [0 x ptr] }> <{ i8 1, i32 2, [0 x ptr] [] }>, comdat($shared)
@own = thread_local(localdynamic) global i32 0
@elsewhere = external global %struct.unknown
@perhaps = extern_weak global i32
@lanes = global <4 x float> splat (float 0x3FB99999A0000000)
@"odd name" = global i128 -170141183460469231731687303715884105728
@other = weak alias i8, ptr @"odd name"

declare i32 @printf(ptr noundef nocapture readonly, ...) #0
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #1
declare x86_fp80 @sinl(x86_fp80)
declare void @abort() noreturn

define dso_local i32 @main(i32 noundef %0, ptr nocapture noundef readonly %1) local_unnamed_addr #0 !dbg !4 {
  %3 = alloca [2 x i64], align 16
    #dbg_value(i32 %0, !5, !DIExpression(), !7)
  call void @llvm.memcpy.p0.p0.i64(ptr noundef align 16 dereferenceable(16) %3, ptr align 8 @table, i64 16, i1 false), !dbg !7
  switch i32 %0, label %8 [
    i32 1, label %4
    i32 -2, label %6
  ], !dbg !7

4:                                                ; preds = %2
  %5 = tail call i32 (ptr, ...) @printf(ptr noundef nonnull @text, double noundef 1.000000e+00), !dbg !8
  br label %8

6:                                                ; preds = %2
  %7 = zext nneg i32 %0 to i64
  br label %8

8:                                                ; preds = %6, %4, %2
  %9 = phi i64 [ 0, %2 ], [ 1, %4 ], [ %7, %6 ]
  %10 = getelementptr inbounds [2 x %struct.pair], ptr @table, i64 0, i64 %9, i32 1, i32 0, i64 %9
  %11 = load volatile double, ptr %10, align 8, !tbaa !9
  %12 = fcmp fast ult double %11, 2.500000e+00
  br i1 %12, label %13, label %17, !llvm.loop !9

13:
  %14 = fptosi double %11 to i32
  %15 = or disjoint i32 %14, 1
  %16 = select i1 %12, i32 %15, i32 7
  ret i32 %16

17:
  call void @abort() #2
  unreachable
}

define internal fastcc { i64, i1 } @pieces(ptr byval(%struct.pair) align 8 %p, <2 x i32> %v, ptr %f) unnamed_addr {
start:
  %old = atomicrmw add ptr @own, i32 1 syncscope("singlethread") monotonic, align 4
  %pair = cmpxchg weak ptr %p, i32 %old, i32 5 acq_rel monotonic, align 4
  %done = extractvalue { i32, i1 } %pair, 1
  fence seq_cst
  %swapped = shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 1, i32 poison>
  %first = extractelement <2 x i32> %swapped, i64 0
  %set = insertelement <2 x i32> %swapped, i32 %first, i32 1
  %frozen = freeze i32 %first
  %word = sext i32 %frozen to i64
  %a = insertvalue { i64, i1 } poison, i64 %word, 0
  %b = insertvalue { i64, i1 } %a, i1 %done, 1
  store atomic i32 %frozen, ptr %p release, align 4
  %late = call i8 %f(i8 signext 3)
  br i1 %done, label %end, label %start.more
start.more:
  %room = alloca i16, i64 %word, align 2
  br label %end
end:
  ret { i64, i1 } %b
}

define void @not_read() {
  call void asm sideeffect "nop", "~{memory}"()
  ret void
}

attributes #0 = { nofree nounwind "target-cpu"="x86-64" }
attributes #1 = { nocallback memory(argmem: readwrite) }
attributes #2 = { noreturn nounwind }

!llvm.module.flags = !{!0}
!0 = !{i32 7, !"Dwarf Version", i32 5}
!1 = !DIFile(filename: "all.c", directory: "/")
!4 = distinct !DISubprogram(name: "main", scope: !1, file: !1, line: 3, spFlags: DISPFlagDefinition)
!5 = !DILocalVariable(name: "argc", arg: 1, scope: !4, file: !1)
!6 = distinct !DILexicalBlock(scope: !4, file: !1, line: 4)
!7 = !DILocation(line: 5, column: 9, scope: !6)
!8 = !DILocation(line: 1, column: 2, scope: !4, inlinedAt: !7)
!9 = distinct !{!9}
