; The header and the elements of a message: constants become wide stores, elements a loop, the sum a phi.
declare i32 @llvm.bswap.i32(i32)
declare ptr @malloc(i64)
declare void @free(ptr)
define i32 @marshal(ptr noalias %out, ptr %in) {
entry:
  %scratch = alloca [16 x i8], align 8
  %heap = call ptr @malloc(i64 100)
 store i32 7, ptr %heap, align 4
  store i64 1, ptr %scratch, align 8
  %h0 = getelementptr i8, ptr %out, i64 0
  store i8 1, ptr %h0, align 1
  %h1 = getelementptr i8, ptr %out, i64 1
  store i8 0, ptr %h1, align 1
  %h2 = getelementptr i8, ptr %out, i64 2
  store i8 0, ptr %h2, align 1
  %h3 = getelementptr i8, ptr %out, i64 3
  store i8 42, ptr %h3, align 1
  %a0 = getelementptr i8, ptr %in, i64 0
  %v0 = load i32, ptr %a0, align 4
  %w0 = call i32 @llvm.bswap.i32(i32 %v0)
  %b0 = getelementptr i8, ptr %out, i64 4
  store i32 %w0, ptr %b0, align 4
  %s0 = add i32 0, %v0
  %a1 = getelementptr i8, ptr %in, i64 4
  %v1 = load i32, ptr %a1, align 4
  %w1 = call i32 @llvm.bswap.i32(i32 %v1)
  %b1 = getelementptr i8, ptr %out, i64 8
  store i32 %w1, ptr %b1, align 4
  %s1 = add i32 %s0, %v1
  %a2 = getelementptr i8, ptr %in, i64 8
  %v2 = load i32, ptr %a2, align 4
  %w2 = call i32 @llvm.bswap.i32(i32 %v2)
  %b2 = getelementptr i8, ptr %out, i64 12
  store i32 %w2, ptr %b2, align 4
  %s2 = add i32 %s1, %v2
  %a3 = getelementptr i8, ptr %in, i64 12
  %v3 = load i32, ptr %a3, align 4
  %w3 = call i32 @llvm.bswap.i32(i32 %v3)
  %b3 = getelementptr i8, ptr %out, i64 16
  store i32 %w3, ptr %b3, align 4
  %s3 = add i32 %s2, %v3
  %a4 = getelementptr i8, ptr %in, i64 16
  %v4 = load i32, ptr %a4, align 4
  %w4 = call i32 @llvm.bswap.i32(i32 %v4)
  %b4 = getelementptr i8, ptr %out, i64 20
  store i32 %w4, ptr %b4, align 4
  %s4 = add i32 %s3, %v4
  %a5 = getelementptr i8, ptr %in, i64 20
  %v5 = load i32, ptr %a5, align 4
  %w5 = call i32 @llvm.bswap.i32(i32 %v5)
  %b5 = getelementptr i8, ptr %out, i64 24
  store i32 %w5, ptr %b5, align 4
  %s5 = add i32 %s4, %v5
  %a6 = getelementptr i8, ptr %in, i64 24
  %v6 = load i32, ptr %a6, align 4
  %w6 = call i32 @llvm.bswap.i32(i32 %v6)
  %b6 = getelementptr i8, ptr %out, i64 28
  store i32 %w6, ptr %b6, align 4
  %s6 = add i32 %s5, %v6
  %a7 = getelementptr i8, ptr %in, i64 28
  %v7 = load i32, ptr %a7, align 4
  %w7 = call i32 @llvm.bswap.i32(i32 %v7)
  %b7 = getelementptr i8, ptr %out, i64 32
  store i32 %w7, ptr %b7, align 4
  %s7 = add i32 %s6, %v7
  %a8 = getelementptr i8, ptr %in, i64 32
  %v8 = load i32, ptr %a8, align 4
  %w8 = call i32 @llvm.bswap.i32(i32 %v8)
  %b8 = getelementptr i8, ptr %out, i64 36
  store i32 %w8, ptr %b8, align 4
  %s8 = add i32 %s7, %v8
  %a9 = getelementptr i8, ptr %in, i64 36
  %v9 = load i32, ptr %a9, align 4
  %w9 = call i32 @llvm.bswap.i32(i32 %v9)
  %b9 = getelementptr i8, ptr %out, i64 40
  store i32 %w9, ptr %b9, align 4
  %s9 = add i32 %s8, %v9
  %a10 = getelementptr i8, ptr %in, i64 40
  %v10 = load i32, ptr %a10, align 4
  %w10 = call i32 @llvm.bswap.i32(i32 %v10)
  %b10 = getelementptr i8, ptr %out, i64 44
  store i32 %w10, ptr %b10, align 4
  %s10 = add i32 %s9, %v10
  %a11 = getelementptr i8, ptr %in, i64 44
  %v11 = load i32, ptr %a11, align 4
  %w11 = call i32 @llvm.bswap.i32(i32 %v11)
  %b11 = getelementptr i8, ptr %out, i64 48
  store i32 %w11, ptr %b11, align 4
  %s11 = add i32 %s10, %v11
  %c0 = getelementptr i8, ptr %in, i64 100
  %x0 = load i8, ptr %c0, align 1
  %e0 = getelementptr i8, ptr %out, i64 52
  store i8 %x0, ptr %e0, align 1
  %c1 = getelementptr i8, ptr %in, i64 101
  %x1 = load i8, ptr %c1, align 1
  %e1 = getelementptr i8, ptr %out, i64 53
  store i8 %x1, ptr %e1, align 1
  %c2 = getelementptr i8, ptr %in, i64 102
  %x2 = load i8, ptr %c2, align 1
  %e2 = getelementptr i8, ptr %out, i64 54
  store i8 %x2, ptr %e2, align 1
  %c3 = getelementptr i8, ptr %in, i64 103
  %x3 = load i8, ptr %c3, align 1
  %e3 = getelementptr i8, ptr %out, i64 55
  store i8 %x3, ptr %e3, align 1
  call void @free(ptr %heap)
  br i1 true, label %yes, label %no
yes:
  br label %end
no:
  br label %end
end:
  %r = phi i32 [ %s11, %yes ], [ 0, %no ]
  ret i32 %r
}

define void @gaps(ptr %out, ptr %in) {
  %p0 = getelementptr i8, ptr %in, i64 0
  %v0 = load i8, ptr %p0, align 1
  %q0 = getelementptr i8, ptr %out, i64 0
  store i8 %v0, ptr %q0, align 1
  %p1 = getelementptr i8, ptr %in, i64 1
  %v1 = load i8, ptr %p1, align 1
  %q1 = getelementptr i8, ptr %out, i64 1
  store i8 %v1, ptr %q1, align 1
  %p2 = getelementptr i8, ptr %in, i64 2
  %v2 = load i8, ptr %p2, align 1
  %q2 = getelementptr i8, ptr %out, i64 2
  store i8 %v2, ptr %q2, align 1
  %p3 = getelementptr i8, ptr %in, i64 3
  %v3 = load i8, ptr %p3, align 1
  %q3 = getelementptr i8, ptr %out, i64 3
  store i8 %v3, ptr %q3, align 1
  %p4 = getelementptr i8, ptr %in, i64 4
  %v4 = load i8, ptr %p4, align 1
  %q4 = getelementptr i8, ptr %out, i64 4
  store i8 %v4, ptr %q4, align 1
  %p5 = getelementptr i8, ptr %in, i64 5
  %v5 = load i8, ptr %p5, align 1
  %q5 = getelementptr i8, ptr %out, i64 5
  store i8 %v5, ptr %q5, align 1
  %p6 = getelementptr i8, ptr %in, i64 6
  %v6 = load i8, ptr %p6, align 1
  %q6 = getelementptr i8, ptr %out, i64 6
  store i8 %v6, ptr %q6, align 1
  %p7 = getelementptr i8, ptr %in, i64 7
  %v7 = load i8, ptr %p7, align 1
  %q7 = getelementptr i8, ptr %out, i64 7
  store i8 %v7, ptr %q7, align 1
  %p8 = getelementptr i8, ptr %in, i64 8
  %v8 = load i8, ptr %p8, align 1
  %q8 = getelementptr i8, ptr %out, i64 8
  store i8 %v8, ptr %q8, align 1
  %p9 = getelementptr i8, ptr %in, i64 9
  %v9 = load i8, ptr %p9, align 1
  %q9 = getelementptr i8, ptr %out, i64 9
  store i8 %v9, ptr %q9, align 1
  %p10 = getelementptr i8, ptr %in, i64 10
  %v10 = load i8, ptr %p10, align 1
  %q10 = getelementptr i8, ptr %out, i64 10
  store i8 %v10, ptr %q10, align 1
  %p11 = getelementptr i8, ptr %in, i64 11
  %v11 = load i8, ptr %p11, align 1
  %q11 = getelementptr i8, ptr %out, i64 11
  store i8 %v11, ptr %q11, align 1
  %p12 = getelementptr i8, ptr %in, i64 12
  %v12 = load i8, ptr %p12, align 1
  %q12 = getelementptr i8, ptr %out, i64 12
  store i8 %v12, ptr %q12, align 1
  %p13 = getelementptr i8, ptr %in, i64 13
  %v13 = load i8, ptr %p13, align 1
  %q13 = getelementptr i8, ptr %out, i64 13
  store i8 %v13, ptr %q13, align 1
  %p14 = getelementptr i8, ptr %in, i64 14
  %v14 = load i8, ptr %p14, align 1
  %q14 = getelementptr i8, ptr %out, i64 14
  store i8 %v14, ptr %q14, align 1
  %p15 = getelementptr i8, ptr %in, i64 15
  %v15 = load i8, ptr %p15, align 1
  %q15 = getelementptr i8, ptr %out, i64 15
  store i8 %v15, ptr %q15, align 1
  %z0 = getelementptr i8, ptr %out, i64 100
  store i64 0, ptr %z0, align 8
  %z1 = getelementptr i8, ptr %out, i64 108
  store i64 0, ptr %z1, align 8
  %z2 = getelementptr i8, ptr %out, i64 116
  store i64 0, ptr %z2, align 8
  %z3 = getelementptr i8, ptr %out, i64 124
  store i64 0, ptr %z3, align 8
  %z4 = getelementptr i8, ptr %out, i64 132
  store i64 0, ptr %z4, align 8
  %z5 = getelementptr i8, ptr %out, i64 140
  store i64 0, ptr %z5, align 8
  %z6 = getelementptr i8, ptr %out, i64 148
  store i64 0, ptr %z6, align 8
  %z7 = getelementptr i8, ptr %out, i64 156
  store i64 0, ptr %z7, align 8
  %z8 = getelementptr i8, ptr %out, i64 164
  store i64 0, ptr %z8, align 8
  %z9 = getelementptr i8, ptr %out, i64 172
  store i64 0, ptr %z9, align 8
  %z10 = getelementptr i8, ptr %out, i64 180
  store i64 0, ptr %z10, align 8
  %z11 = getelementptr i8, ptr %out, i64 188
  store i64 0, ptr %z11, align 8
  %z12 = getelementptr i8, ptr %out, i64 196
  store i64 0, ptr %z12, align 8
  %z13 = getelementptr i8, ptr %out, i64 204
  store i64 0, ptr %z13, align 8
  %z14 = getelementptr i8, ptr %out, i64 212
  store i64 0, ptr %z14, align 8
  %z15 = getelementptr i8, ptr %out, i64 220
  store i64 0, ptr %z15, align 8
  %z16 = getelementptr i8, ptr %out, i64 228
  store i64 0, ptr %z16, align 8
  %z17 = getelementptr i8, ptr %out, i64 236
  store i64 0, ptr %z17, align 8
  %z18 = getelementptr i8, ptr %out, i64 244
  store i64 0, ptr %z18, align 8
  %z19 = getelementptr i8, ptr %out, i64 252
  store i64 0, ptr %z19, align 8
  %z20 = getelementptr i8, ptr %out, i64 260
  store i64 0, ptr %z20, align 8
  %z21 = getelementptr i8, ptr %out, i64 268
  store i64 0, ptr %z21, align 8
  %z22 = getelementptr i8, ptr %out, i64 276
  store i64 0, ptr %z22, align 8
  %z23 = getelementptr i8, ptr %out, i64 284
  store i64 0, ptr %z23, align 8
  %z24 = getelementptr i8, ptr %out, i64 292
  store i64 0, ptr %z24, align 8
  %z25 = getelementptr i8, ptr %out, i64 300
  store i64 0, ptr %z25, align 8
  %z26 = getelementptr i8, ptr %out, i64 308
  store i64 0, ptr %z26, align 8
  %z27 = getelementptr i8, ptr %out, i64 316
  store i64 0, ptr %z27, align 8
  %z28 = getelementptr i8, ptr %out, i64 324
  store i64 0, ptr %z28, align 8
  %z29 = getelementptr i8, ptr %out, i64 332
  store i64 0, ptr %z29, align 8
  %z30 = getelementptr i8, ptr %out, i64 340
  store i64 0, ptr %z30, align 8
  %z31 = getelementptr i8, ptr %out, i64 348
  store i64 0, ptr %z31, align 8
  %z32 = getelementptr i8, ptr %out, i64 356
  store i64 0, ptr %z32, align 8
  %z33 = getelementptr i8, ptr %out, i64 364
  store i64 0, ptr %z33, align 8
  %z34 = getelementptr i8, ptr %out, i64 372
  store i64 0, ptr %z34, align 8
  %z35 = getelementptr i8, ptr %out, i64 380
  store i64 0, ptr %z35, align 8
  %z36 = getelementptr i8, ptr %out, i64 388
  store i64 0, ptr %z36, align 8
  %z37 = getelementptr i8, ptr %out, i64 396
  store i64 0, ptr %z37, align 8
  %z38 = getelementptr i8, ptr %out, i64 404
  store i64 0, ptr %z38, align 8
  %z39 = getelementptr i8, ptr %out, i64 412
  store i64 0, ptr %z39, align 8
  %z40 = getelementptr i8, ptr %out, i64 420
  store i64 0, ptr %z40, align 8
  %z41 = getelementptr i8, ptr %out, i64 428
  store i64 0, ptr %z41, align 8
  %z42 = getelementptr i8, ptr %out, i64 436
  store i64 0, ptr %z42, align 8
  %z43 = getelementptr i8, ptr %out, i64 444
  store i64 0, ptr %z43, align 8
  %z44 = getelementptr i8, ptr %out, i64 452
  store i64 0, ptr %z44, align 8
  %z45 = getelementptr i8, ptr %out, i64 460
  store i64 0, ptr %z45, align 8
  %z46 = getelementptr i8, ptr %out, i64 468
  store i64 0, ptr %z46, align 8
  %z47 = getelementptr i8, ptr %out, i64 476
  store i64 0, ptr %z47, align 8
  %z48 = getelementptr i8, ptr %out, i64 484
  store i64 0, ptr %z48, align 8
  %z49 = getelementptr i8, ptr %out, i64 492
  store i64 0, ptr %z49, align 8
  ret void
}
